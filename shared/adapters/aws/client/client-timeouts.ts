/**
 * Makes a client's `requestHandler` give up on a request: when there is no connection in time, and when nothing comes
 * for so long, before the answer begins or between its parts. By itself the SDK waits for ever; with `requestTimeout`
 * alone it warns, and waits.
 */
export function clientTimeouts(options: { readonly connectMs: number; readonly answerMs: number }) {
  return {
    connectionTimeout: options.connectMs,
    requestTimeout: options.answerMs,
    throwOnRequestTimeout: true,
    socketTimeout: options.answerMs,
  } as const
}
