"""How is a memory LangGraph's long-term store? A BaseStore over it, and what it is made of."""
