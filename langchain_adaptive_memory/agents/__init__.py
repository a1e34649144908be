"""How does an agent get a memory? A middleware, what it shows the model, and what a turn keeps."""
