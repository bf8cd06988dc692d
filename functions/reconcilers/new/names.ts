/** A kind that is to be, and everything that is called after it. */
export interface Names {
  readonly group: string
  readonly version: string
  /** `DnsRecord` */
  readonly kind: string
  /** `dnsrecords` */
  readonly plural: string
  /** Of files and folders: `dns-record`. */
  readonly file: string
  /** Of variables: `dnsRecord`. */
  readonly variable: string
}

/** A mistake of who asked, in a sentence that says what is expected. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

export const usage =
  'usage: npm run new -- <group>/<version>/<Kind>, for example npm run new -- example.dev/v1/DnsRecord'

/** Reads `group/version/Kind`. Throws a UsageError for what Kubernetes would not take, or TypeScript could not hold. */
export function readNames(args: readonly string[]): Names {
  const [text = '', ...more] = args
  const [group = '', version = '', kind = '', ...rest] = text.split('/')
  if (more.length > 0 || rest.length > 0 || kind === '') throw new UsageError(usage)
  expect(
    groupPattern.test(group) && group.length <= 253,
    `group "${group}" is no domain name in lower case with a dot, such as example.dev`,
  )
  expect(versionPattern.test(version), `version "${version}" is none: it must be v1, v2beta1, v1alpha3 …`)
  expect(
    kindPattern.test(kind),
    `kind "${kind}" is none: it must begin with a capital, and have letters and digits only, at most 63`,
  )
  expect(
    !taken.has(kind) && !(kind in globalThis),
    `kind ${kind} would hide something of that name that is there already`,
  )
  const file = kebabCase(kind)
  return { group, version, kind, plural: pluralOf(kind), file, variable: camelCase(file) }
}

const groupPattern = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)+$/
const versionPattern = /^v[1-9]\d*((alpha|beta)[1-9]\d*)?$/
const kindPattern = /^[A-Z][A-Za-z0-9]{0,62}$/

/** Kinds that are built in, and types that a reconciler names. */
const taken = new Set([
  'ConfigMap',
  'Secret',
  'Namespace',
  'Event',
  'CustomResourceDefinition',
  'Controller',
  'Context',
])

function expect(holds: boolean, message: string): void {
  if (!holds) throw new UsageError(`${message}\n${usage}`)
}

/** `DNSRecord` and `DnsRecord` are both `dns-record`. */
function kebabCase(kind: string): string {
  return kind.replaceAll(/(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/g, '-').toLowerCase()
}

function camelCase(file: string): string {
  return file.replaceAll(/-(.)/g, (_, letter: string) => letter.toUpperCase())
}

/** As kubectl guesses it (`UnsafeGuessKindToResource`). */
function pluralOf(kind: string): string {
  const singular = kind.toLowerCase()
  if (singular.endsWith('s')) return `${singular}es`
  return singular.endsWith('y') ? `${singular.slice(0, -1)}ies` : `${singular}s`
}
