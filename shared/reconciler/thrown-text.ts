/** What was thrown, in words: most often an Error with a message, but it may be anything. */
export function thrownText(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return `${thrown} was thrown`
  if (typeof thrown !== 'object') return String(thrown)
  const { message } = thrown as { readonly message?: unknown }
  if (thrown instanceof Error) return typeof message === 'string' ? message || thrown.name : jsonText(message)
  return typeof message === 'string' ? message : jsonText(thrown)
}

/** For some values there is no JSON, and some do not even have a text. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
