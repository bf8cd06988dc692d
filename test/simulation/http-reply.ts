import type { HttpResponse } from '../../shared/ports/http-handler.ts'

/** What a watch that is refused with this status would tell. */
export function refusalLine(code: number): string {
  return `${JSON.stringify({ type: 'ERROR', object: { code } })}\n`
}

export async function textOf(reply: HttpResponse): Promise<string> {
  let text = ''
  for await (const piece of piecesOf(reply)) text += piece
  return text
}

export async function* piecesOf({ body }: HttpResponse): AsyncGenerator<string> {
  if (typeof body === 'string') return yield body
  const decoder = new TextDecoder()
  if (body instanceof Uint8Array) return yield decoder.decode(body)
  for await (const piece of body) yield typeof piece === 'string' ? piece : decoder.decode(piece, { stream: true })
}
