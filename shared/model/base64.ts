/** The text, encoded. */
export function toBase64(text: string): string {
  return bytesToBase64(new TextEncoder().encode(text))
}

/** The bytes, encoded. */
export function bytesToBase64(bytes: Uint8Array): string {
  // Not as arguments of one call: a long text has more bytes than a call may have arguments.
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))
}
