"""The MCP server, for agents with an MCP client: six tools, a prompt and a resource, over stdio or HTTP.

`server` creates the server with its prompt and resource, `tools` contains the tools, `inputs` their arguments, and
`stdio` and `streamable_http` are the transports.
"""
