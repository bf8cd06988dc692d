import { isObject, type Json } from './json.ts'
import { child, fieldRequired, forbidden, invalid, type FieldError } from './schema/field-error.ts'
import type { StructuralSchema } from './schema/structural-schema.ts'

/** Where a webhook is, and who signed its certificate: for admission and for conversion. */

const text: StructuralSchema = { type: 'string' }

export const webhookClient: StructuralSchema = {
  type: 'object',
  properties: {
    url: text,
    caBundle: { type: 'string', anyOf: [{ format: 'byte' }, { maxLength: 0 }] },
    service: {
      type: 'object',
      properties: { namespace: text, name: text, path: text, port: { type: 'integer', format: 'int32' } },
    },
  },
}

const form = '; desired format: https://host[/path]'

/** Where a webhook is, in Kubernetes' words. There is no network of a cluster, in which services would be. */
export function checkWebhookClient(client: Json | undefined, field: string): readonly FieldError[] {
  const { url, service, caBundle } = isObject(client) ? client : {}
  if ((url === undefined) === (service === undefined))
    return [fieldRequired(field, 'exactly one of url or service is required')]
  if (service !== undefined)
    return [
      forbidden(child(field, 'service'), 'there is no network of a cluster with services: say the url of the webhook'),
    ]
  return [...checkUrl(String(url), child(field, 'url')), ...checkBundle(caBundle, child(field, 'caBundle'))]
}

function checkUrl(url: string, field: string): readonly FieldError[] {
  if (!URL.canParse(url)) return [fieldRequired(field, `url must be a valid URL${form}`)]
  const { protocol, host, username, password, hash, search } = new URL(url)
  const scheme = protocol.slice(0, -1)
  return [
    ...(scheme === 'https' ? [] : [invalid(field, scheme, `'https' is the only allowed URL scheme${form}`)]),
    ...(host === '' ? [invalid(field, host, `host must be specified${form}`)] : []),
    ...(username + password === '' ? [] : [forbidden(field, 'user information is not permitted in the URL')]),
    ...(hash === '' ? [] : [invalid(field, hash, 'fragments are not permitted in the URL')]),
    ...(search === '' ? [] : [invalid(field, search, 'query parameters are not permitted in the URL')]),
  ]
}

function checkBundle(bundle: Json | undefined, field: string): readonly FieldError[] {
  if (bundle === undefined || bundle === '' || authoritiesOf(String(bundle)) !== undefined) return []
  return [invalid(field, '<bytes>', 'unable to load root certificates: it holds no PEM of a certificate')]
}

/** The PEM of a `caBundle`; undefined if it is none. */
export function authoritiesOf(bundle: string): string | undefined {
  try {
    const pem = atob(bundle)
    return pem.includes('-----BEGIN CERTIFICATE-----') ? pem : undefined
  } catch {
    // What is no base64 is none.
    return undefined
  }
}
