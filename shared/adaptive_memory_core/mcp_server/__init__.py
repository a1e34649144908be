"""The MCP server, for agents with an MCP client: six tools, a prompt and a resource, over stdio or HTTP.

`server` makes it; `tools` and `prompts` say what it offers and do it; `inputs` reads what a model gives; `stdio` and
`streamable_http` carry it.
"""
