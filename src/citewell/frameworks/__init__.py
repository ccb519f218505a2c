"""An index as a part of LangChain and of LlamaIndex, each with an extra of its name. docs/connect.md."""
