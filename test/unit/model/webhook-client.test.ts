import { describe, expect, it } from 'vitest'
import { toBase64 } from '../../../shared/model/base64.ts'
import type { Json } from '../../../shared/model/json.ts'
import { checkReviewVersions, reviewVersionOf } from '../../../shared/model/review-versions.ts'
import { validate } from '../../../shared/model/schema/validate.ts'
import { processorMs } from '../../support/processor-time.ts'
import { authoritiesOf, checkWebhookClient, webhookClient } from '../../../shared/model/webhook-client.ts'

const pem = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n'
const url = 'https://h.dev/x'
const form = '; desired format: https://host[/path]'

describe('where a webhook is', () => {
  it.each<[string, Json | undefined]>([
    ['a URL', { url }],
    ['a URL with a port', { url: 'https://h.dev:8443' }],
    ['a URL and who signed its certificate', { url, caBundle: toBase64(pem) }],
    ['a URL and an empty bundle', { url, caBundle: '' }],
  ])('may be said by %s', (_what, client) => {
    expect(checkWebhookClient(client, 'c')).toEqual([])
  })

  it.each<[Json | undefined, readonly (readonly [string, string])[]]>([
    [undefined, [['c', 'exactly one of url or service is required']]],
    ['https://h', [['c', 'exactly one of url or service is required']]],
    [{}, [['c', 'exactly one of url or service is required']]],
    [{ url, service: {} }, [['c', 'exactly one of url or service is required']]],
    [{ service: {} }, [['c.service', 'there is no network of a cluster with services: say the url of the webhook']]],
    [{ url: 'h.dev' }, [['c.url', `url must be a valid URL${form}`]]],
    [{ url: 'http://h.dev' }, [['c.url', `'https' is the only allowed URL scheme${form}`]]],
    [
      { url: 'file:///x' },
      [
        ['c.url', `'https' is the only allowed URL scheme${form}`],
        ['c.url', `host must be specified${form}`],
      ],
    ],
    [{ url: 'https://a@h.dev' }, [['c.url', 'user information is not permitted in the URL']]],
    [{ url: 'https://:b@h.dev' }, [['c.url', 'user information is not permitted in the URL']]],
    [{ url: 'https://h.dev#a' }, [['c.url', 'fragments are not permitted in the URL']]],
    [{ url: 'https://h.dev?a' }, [['c.url', 'query parameters are not permitted in the URL']]],
    [
      { url, caBundle: toBase64('no') },
      [['c.caBundle', 'unable to load root certificates: it holds no PEM of a certificate']],
    ],
    [{ url, caBundle: '!' }, [['c.caBundle', 'unable to load root certificates: it holds no PEM of a certificate']]],
  ])('is not said by %j', (client, errors) => {
    const wanted = errors.map(([field, text]) => ({ field, message: expect.stringContaining(text) as string }))
    expect(checkWebhookClient(client, 'c')).toMatchObject(wanted)
    expect(checkWebhookClient(client, 'c')).toHaveLength(errors.length)
  })

  it.each([
    ['', true],
    ['YQ==', true],
    ['Y', false],
    ['!', false],
  ])('has a bundle of bytes, or none: %j, %s', (caBundle, fits) => {
    expect(validate(webhookClient, { url, caBundle }).length === 0).toBe(fits)
  })

  it('is trusted by the certificates of its bundle', () => {
    expect([authoritiesOf(toBase64(pem)), authoritiesOf(toBase64('x')), authoritiesOf('!')]).toEqual([
      pem,
      undefined,
      undefined,
    ])
  })
})

describe('the versions of a webhook', () => {
  it.each([
    [['v1'], 'v1'],
    [['v1beta1'], 'v1beta1'],
    [['v1beta1', 'v1'], 'v1beta1'],
    [['v2', 'v1beta1'], 'v1beta1'],
    [['v2'], 'v1'],
    [[], 'v1'],
    [undefined, 'v1'],
  ])('%j: it is spoken to in %s', (versions, spoken) => {
    expect(reviewVersionOf(versions)).toBe(spoken)
  })

  it.each<[Json | undefined, readonly string[]]>([
    [['v1'], []],
    [['v2', 'v1beta1'], []],
    [['v1', 'v2', 'v1'], ['p.versions[2]']],
    [
      ['v2', 'v2'],
      ['p.versions[1]', 'p.versions'],
    ],
    [['v2'], ['p.versions']],
    [[], ['p.versions']],
    ['v1', ['p.versions']],
    [undefined, ['p.versions']],
  ])('%j have errors at %j', (versions, fields) => {
    expect(checkReviewVersions(versions, 'p', 'versions').map(({ field }) => field)).toEqual(fields)
  })

  it('are told apart in time by their number', () => {
    const versions = ['v1', ...Array.from({ length: 43_000 }, (_, i) => `x${i}`)]
    expect(processorMs(() => expect(checkReviewVersions(versions, 'p', 'versions')).toEqual([]))).toBeLessThan(200)
  })
})
