import { parseJson } from '../model/parse-json.ts'
import type { HttpHandler, HttpRequest, HttpResponse } from '../ports/http-handler.ts'
import { acceptedRanges } from './media-ranges.ts'
import { flag } from './query.ts'
import { jsonTypes } from './representation.ts'

/**
 * Answers in YAML for who wants it most (`Accept: application/yaml`). JSON is YAML, too: what is long, or is sent
 * while it is made, stays in that form.
 */
export function withYamlAnswers(handler: HttpHandler): HttpHandler {
  const answer = async (request: HttpRequest): Promise<HttpResponse> => {
    const response = await handler(request)
    return isJson(response) && !isWatch(request, response) ? inYaml(response) : response
  }
  return (request) => (asksForYaml(request) ? answer(request) : handler(request))
}

/** What takes longer to write as YAML than a request may take. */
const lengthMax = 32_768

function asksForYaml(request: HttpRequest): boolean {
  if (!/yaml/i.test(request.header('accept') ?? '')) return false
  const first = acceptedRanges(request).find(({ type }) => type === yamlType || jsonTypes.includes(type))
  return first?.type === yamlType
}

const yamlType = 'application/yaml'

function isJson({ headers }: HttpResponse): boolean {
  return headers['content-type'] === 'application/json'
}

/** Its lines are JSON for who takes that, too; one after the other they are no YAML. */
function isWatch({ query }: HttpRequest, { body }: HttpResponse): boolean {
  return typeof body !== 'string' && flag(query, 'watch')
}

async function inYaml({ body, ...response }: HttpResponse): Promise<HttpResponse> {
  const headers = { ...response.headers, 'content-type': yamlType }
  if (typeof body !== 'string' || body.length > lengthMax) return { ...response, headers, body }
  const { Document, visit } = await import('yaml')
  const document = new Document(parseJson(body), { aliasDuplicateObjects: false })
  visit(document, {
    Scalar: (_, node) => {
      if (typeof node.value === 'string' && mistakable.test(node.value)) node.type = 'QUOTE_DOUBLE'
    },
  })
  return { ...response, headers, body: document.toString({ lineWidth: 0 }) }
}

/** Texts that YAML 1.1 reads as something else, as many clients do: `yes`, `1:30`, `2001-01-01`, `0o7`, `=`. */
const mistakable = /^(?:[-+.\d~=<].*|y|n|yes|no|on|off)$/i
