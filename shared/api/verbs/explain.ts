import { placeOf, type ApiServices, type VerbHandler } from '../call.ts'
import { plainText } from '../reply.ts'

/** `GET` of an object's `explain`: what the control plane knows and intends about it, as text for people. */
export function createExplainVerb({ resources, explain }: ApiServices): VerbHandler {
  return async (call) => plainText(200, await explain(call.kind, await resources.get(call.kind, placeOf(call))))
}
