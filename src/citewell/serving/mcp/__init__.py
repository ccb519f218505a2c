"""For other programs' assistants: search, ask and open a document over the Model Context Protocol. docs/connect.md.

a tool - who calls, and where it runs (`desk`) - the index. On standard input and output for a program of this machine
(`stdio`), or at /mcp of the service (`serving.routes.mcp`).
"""
