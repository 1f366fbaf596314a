"""One file a game: rules as kernels, the Game class, its text form. ``envs.make`` finds them by module name."""
