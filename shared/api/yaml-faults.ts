import type { ErrorCode } from 'yaml'

/** Says what is wrong with a YAML text, and where, and tells none of the text. */
export class YamlFault extends Error {
  override readonly name = 'YamlFault'
}

/** What is wrong with a YAML text, by the parser's code. None of it is part of the text. */
export function yamlFaultText(code: ErrorCode): string {
  return faults[code]
}

const faults: Readonly<Record<ErrorCode, string>> = {
  ALIAS_PROPS: 'an alias has no tag and no anchor',
  BAD_ALIAS: 'an alias or an anchor has no name, or one that ends with a colon',
  BAD_COLLECTION_TYPE: 'a tag does not fit its value',
  BAD_DIRECTIVE: 'a directive is malformed',
  BAD_DQ_ESCAPE: 'an escape sequence is malformed',
  BAD_INDENT: 'the indentation does not fit',
  BAD_PROP_ORDER: 'an anchor or a tag stands ahead of an indicator',
  BAD_SCALAR_START: 'a plain value cannot start with this character; quote the value',
  BLOCK_AS_IMPLICIT_KEY: 'a map or a list stands where a key or a value on the same line must be',
  BLOCK_IN_FLOW: 'a block stands within brackets',
  DUPLICATE_KEY: 'a map has a key twice',
  IMPOSSIBLE: 'the text cannot be read',
  KEY_OVER_1024_CHARS: 'a key is longer than 1024 characters',
  MISSING_CHAR: 'a quote, a comma, a bracket, a space or another mark is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on a single line',
  MULTIPLE_ANCHORS: 'a value has two anchors',
  MULTIPLE_DOCS: 'there is more than one document',
  MULTIPLE_TAGS: 'a value has two tags',
  NON_STRING_KEY: 'a key must be a text',
  RESOURCE_EXHAUSTION: 'the text is nested too deeply',
  TAB_AS_INDENT: 'tabs are no indentation',
  TAG_RESOLVE_FAILED: 'a tag is unknown, or does not fit its value',
  UNEXPECTED_TOKEN: 'there is an unexpected token',
}
