"""The MCP server, for agents with an MCP client: six tools over stdin and stdout, or over HTTP.

`server` makes it, `tools` says what it offers, `calls` does it; `stdio` and `streamable_http` carry it.
"""
