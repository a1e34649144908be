"""How is a memory drawn? One section a file, over the facts that a flow has gathered."""
