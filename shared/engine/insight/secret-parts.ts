import { textFromBase64 } from '../../model/base64.ts'
import { isObject } from '../../model/json.ts'
import { parseJson } from '../../model/parse-json.ts'

/** Of a text with several lines each line counts from this length on: a key is often told line by line. */
const lineLengthMin = 16
/** JSON in JSON in JSON is read, and no deeper. */
const documentsMax = 3

/**
 * What of a value is secret by itself, each part in clear: the whole, lines of a key, texts of a JSON document,
 * passwords in URIs, and what an assignment such as `password=…` assigns.
 */
export function secretPartsOf(value: string): readonly string[] {
  const parts: string[] = []
  addParts(value, documentsMax, parts)
  return parts
}

function addParts(value: string, documents: number, parts: string[]): void {
  // Files end with a new line, and whoever uses the value leaves it out.
  const clear = value.trim()
  parts.push(clear)
  const document = documents > 0 ? documentIn(clear) : undefined
  if (document !== undefined) return addLeaves(document, documents - 1, parts)
  if (clear.includes('\n')) addLines(clear, parts)
  for (const [, user = '', password = ''] of clear.matchAll(userInfo)) parts.push(decodedOr(password || user))
  for (const [, quoted, plain = ''] of clear.matchAll(assignment)) parts.push(decodedOr(quoted ?? plain))
}

function addLines(text: string, parts: string[]): void {
  for (const one of text.split('\n')) {
    const line = one.trim()
    if (line.length >= lineLengthMin && !line.startsWith('-----')) parts.push(line)
  }
}

/** The user and the password of a URI. A user without a password is a token. */
const userInfo = /:\/\/([^\s/?#"'<>:]{0,2048})(?::([^\s/?#"'<>]{0,2048}))?@/g
/** What a name that says so is said to be, in the query of a URI, in a file of settings, or in a connection string. */
const assignment =
  /(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|api[-_]?key|key[-_]data)["']?[ \t]{0,8}[=:][ \t]{0,8}(?:"([^"\n]{1,4096})"|'?([^\s"'&;,]{1,4096}))/gi

/** As an escaped text is known: decoded. */
function decodedOr(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function documentIn(text: string): unknown {
  if (!text.startsWith('{') && !text.startsWith('[')) return undefined
  try {
    return parseJson(text)
  } catch {
    return undefined
  }
}

function addLeaves(document: unknown, documents: number, parts: string[]): void {
  if (typeof document === 'string') addParts(document, documents, parts)
  else if (typeof document === 'number') parts.push(String(document))
  else if (Array.isArray(document)) for (const item of document) addLeaves(item, documents, parts)
  else if (isObject(document))
    for (const [name, field] of Object.entries(document)) {
      addLeaves(field, documents, parts)
      if (name === 'auth' && typeof field === 'string') addLogin(field, parts)
    }
}

/** A login of a container registry is `user:password` in base64. */
function addLogin(auth: string, parts: string[]): void {
  try {
    parts.push(textFromBase64(auth).replace(/^[^:]*:/, ''))
  } catch {
    // It is none: the whole is known.
  }
}
