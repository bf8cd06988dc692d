/** The text, or as much of it as is shown of a long one. Lengths are in UTF-16 units. */
export function shorten(text: string, lengthMax: number): string {
  return text.length <= lengthMax ? text : `${text.slice(0, lengthMax)}…`
}
