"""Exact solutions of Tac-Tix: exhaustive tables, proof search for larger boards, and a verifier of its proofs."""
