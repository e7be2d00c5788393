"""Messages are dictionaries; only their texts need help."""


def text_content_block_from_string(content):
    return {"type": "text", "content": content}


def get_text_content_as_str(content_blocks):
    return "\n".join(block["content"] for block in content_blocks)
