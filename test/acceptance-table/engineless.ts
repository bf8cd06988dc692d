/**
 * The numbers that are about something without an engine, and what: their tests pass though no reconcile function is
 * ever called.
 */
export const engineless: Readonly<Record<string, string>> = {
  A16: 'definitions that are refused before anything starts',
  J32: 'definitions that are refused before anything starts',
  D19: 'who may read /metrics and /doctor, which the HTTP server decides',
}
