"""The masked categorical distribution: illegal actions are impossible whatever the logits."""

from __future__ import annotations

import pytest
import torch

from agents import masked_categorical as mc


def test_legal_logits_of_minus_1e30_beat_illegal_ones_of_1e30():
    logits = torch.tensor([[1e30, -1e30, 1e30, -1e30]])
    mask = torch.tensor([[False, True, False, True]])
    log_probs = mc.log_probs(logits, mask)
    assert log_probs.exp().tolist() == [[0.0, 0.5, 0.0, 0.5]]
    generator = torch.Generator().manual_seed(0)
    actions = mc.sample(log_probs.expand(1000, 4), generator)
    assert set(actions.tolist()) == {1, 3}


def test_an_empty_mask_is_an_error_that_names_the_row():
    mask = torch.tensor([[True, False], [False, False]])
    with pytest.raises(ValueError, match="row 1 of the action mask has no legal action"):
        mc.log_probs(torch.zeros(2, 2), mask)


def test_entropy_and_its_gradient_ignore_illegal_actions():
    logits = torch.tensor([[0.3, -0.2, 5.0]], requires_grad=True)
    mask = torch.tensor([[True, True, False]])
    entropy = mc.entropy(mc.log_probs(logits, mask))
    two = torch.tensor([[0.3, -0.2]], requires_grad=True)
    expected = torch.distributions.Categorical(logits=two).entropy()
    entropy.backward()
    expected.backward()
    assert torch.allclose(entropy, expected)
    assert torch.allclose(logits.grad[:, :2], two.grad, atol=1e-6)
    assert logits.grad[0, 2] == 0


def test_one_legal_action_has_probability_one_and_no_entropy():
    log_probs = mc.log_probs(torch.tensor([[3.0, -50.0]]), torch.tensor([[False, True]]))
    assert mc.log_prob(log_probs, torch.tensor([1])).item() == 0
    assert mc.entropy(log_probs).item() == 0


def test_sample_has_the_stated_distribution():
    log_probs = mc.log_probs(torch.tensor([1.0, 0.0, -1.0, 9.0]), torch.tensor([True, True, True, False]))
    actions = mc.sample(log_probs.expand(200_000, 4), torch.Generator().manual_seed(1))
    shares = torch.bincount(actions, minlength=4) / actions.numel()
    assert torch.allclose(shares, log_probs.exp(), atol=0.005)
