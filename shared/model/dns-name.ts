/**
 * What keeps a text from being a DNS name, in Kubernetes' words (apimachinery `util/validation`); undefined if it is
 * one. Several findings are joined by commas, as Kubernetes joins them.
 */

/** A DNS-1035 label: kinds in lower case, plurals, short names, version names. */
export function dnsLabelFault(text: string): string | undefined {
  return fault(text, { expression: /^[a-z](?:[-a-z0-9]*[a-z0-9])?$/, most: 63, rule: labelRule })
}

/** An RFC 1123 subdomain: API groups, names of objects. */
export function dnsSubdomainFault(text: string): string | undefined {
  const expression = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
  return fault(text, { expression, most: 253, rule: subdomainRule })
}

interface NameRule {
  readonly expression: RegExp
  readonly most: number
  readonly rule: string
}

function fault(text: string, { expression, most, rule }: NameRule): string | undefined {
  const tooLong = text.length > most ? [`must be no more than ${most} characters`] : []
  // Of a text far too long only its beginning is looked at: the expression's time grows faster than the text.
  const findings = expression.test(text.slice(0, 1_000)) ? tooLong : [...tooLong, rule]
  return findings.length === 0 ? undefined : findings.join(',')
}

const labelRule =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character" +
  " (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')"

const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character" +
  " (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
