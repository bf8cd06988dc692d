/** The text, encoded. */
export function toBase64(text: string): string {
  // Not as arguments of one call: a long text has more bytes than a call may have arguments.
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''))
}
