"""A memory for agents: a middleware, its evidence for the model, and the saving of turns."""
