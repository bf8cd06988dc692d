/** The text, encoded. */
export function toBase64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text))
}

/** Whether it is base64 with its padding. An empty text is none. */
export function isBase64(text: string): boolean {
  return text.length > 0 && text.length % 4 === 0 && /^[A-Za-z0-9+/]+={0,2}$/.test(text)
}

/** What a text of base64 encodes. Throws a DOMException for a text that is none. */
export function bytesFromBase64(text: string): Uint8Array {
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i)
  return bytes
}

/** The text that is encoded. Throws for what is no base64, or no UTF-8. */
export function textFromBase64(base64: string): string {
  return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesFromBase64(base64))
}

/** The bytes, encoded. */
export function bytesToBase64(bytes: Uint8Array): string {
  // Not as arguments of one call: a long text has more bytes than a call may have arguments.
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}
