"""Self-play training against the published speed of a public benchmark's PPO."""
