"""The MCP server, for agents with a client of their own: six tools over stdin and stdout, or over HTTP.

`server` makes it, `tools` says what it offers, `calls` does it; `stdio` and `streamable_http` carry it.
"""
