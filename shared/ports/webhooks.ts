/** Servers of users that are asked about requests, over https. */
export interface Webhooks {
  /**
   * Posts a JSON text, and resolves to the text that the server answers with status 200. Rejects with UNAVAILABLE,
   * which says why, where there is no such answer: in its time, of its size, from a server that shows a certificate of
   * the authorities.
   */
  post(call: WebhookCall): Promise<string>
}

export interface WebhookCall {
  readonly url: string
  /** PEM. Left out: the authorities that the process trusts. */
  readonly authorities?: string
  readonly body: string
  readonly timeoutMs: number
  readonly answerBytesMax: number
}
