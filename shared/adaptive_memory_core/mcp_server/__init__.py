"""How does an agent with a client of its own use a memory? Through MCP: six tools over stdin and stdout, or over HTTP.

`server` makes it, `tools` says what it offers, `calls` does it; `stdio` and `http` carry it.
"""
