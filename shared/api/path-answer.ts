import type { HttpRequest, HttpResponse } from '../ports/http-handler.ts'

/** What is told at one path that names no resource. */
export type PathAnswer = (request: HttpRequest) => Promise<HttpResponse>
