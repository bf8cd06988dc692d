/**
 * Text of others as a terminal may show it: what would steer the terminal is told as kubectl tells it, `^[` for escape.
 * Ends of lines and tabs stay.
 */
export function forTerminal(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are what is meant
  return text.replaceAll(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, (mark) => {
    const code = mark.charCodeAt(0)
    return code < 0x80 ? `^${String.fromCharCode(code ^ 0x40)}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

/** The same of one line of a log: further lines of it are indented, so that none is mistaken for a line of the log. */
export function linesForTerminal(text: string): string {
  return forTerminal(text).replaceAll('\n', '\n  ')
}
