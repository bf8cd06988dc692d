/** What was thrown, in words: most often an Error with a message, but it may be anything. */
export function thrownText(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return `${thrown} was thrown`
  if (typeof thrown !== 'object') return String(thrown)
  const { message } = thrown as { readonly message?: unknown }
  if (typeof message !== 'string') return jsonText(thrown instanceof Error ? message : thrown)
  if (!(thrown instanceof Error)) return message
  if (message === 'fetch failed') return [message, codeOf(thrown.cause)].filter(Boolean).join(': ')
  if (thrown instanceof AggregateError && saysNothing(message)) return manyTexts(thrown) || thrown.name
  return message || thrown.name
}

/** What went wrong on the way to a server stands in the code of the cause alone. */
function codeOf(cause: unknown): string {
  const { code } = (cause ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? code : ''
}

/** Made of errors without words of its own, as by `Promise.any`. */
function saysNothing(message: string): boolean {
  return message === '' || message === 'All promises were rejected'
}

/** Each text once. */
function manyTexts({ errors }: AggregateError): string {
  return [...new Set((errors as unknown[]).map(thrownText))].join('; ')
}

/** For some values there is no JSON, and some do not even have a text. */
function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return Object.prototype.toString.call(value)
  }
}
