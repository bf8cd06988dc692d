import { isDeleting, type ApiObject, type ObjectMeta } from './object.ts'
import { isLabelValue, isQualifiedName, nameLengthMax, prefixLengthMax, qualifiedName } from './qualified-name.ts'
import { errorsMax, fieldRequired, forbidden, invalid, tooLong, type FieldError } from './schema/field-error.ts'

/** Rules for `metadata`: what its parts may be. */

const dns1123Subdomain = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/
const subdomainRule =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com')"

/** How long the texts of an owner reference may be: they become parts of keys. */
const ownerLengthMax = { apiVersion: 317, kind: 63, name: 253, uid: 128 } as const
const ownerTexts = Object.keys(ownerLengthMax) as readonly (keyof typeof ownerLengthMax)[]

/** Everything about metadata that is not a matter of types. */
export function checkMetadata(meta: ObjectMeta, nameRule: NameRule = 'subdomain'): readonly FieldError[] {
  const errors = [
    ...checkName(meta.name, nameRule),
    ...checkLabels(meta),
    ...checkAnnotationBytes(meta),
    ...checkOwners(meta),
    ...checkFinalizers(meta),
  ]
  return errors.slice(0, errorsMax)
}

/** What names of a kind may be: of most a DNS subdomain, of some whatever can be one part of a path. */
export type NameRule = 'subdomain' | 'path segment'

function checkName(name: string, rule: NameRule): readonly FieldError[] {
  if (name === '') return [fieldRequired('metadata.name', 'name or generateName is required')]
  if (rule === 'path segment') return [...checkSigns(name), ...checkPathSegment('metadata.name', name)]
  if (name.length > 253) return [invalid('metadata.name', name, 'must be no more than 253 characters')]
  return dns1123Subdomain.test(name) ? [] : [invalid('metadata.name', name, subdomainRule)]
}

/** Of any signs, so that bytes count: it is part of keys. No key holds half a character. */
function checkSigns(name: string): readonly FieldError[] {
  if (!name.isWellFormed()) return [invalid('metadata.name', name, 'must be well-formed Unicode')]
  const isShort = new TextEncoder().encode(name).length <= 253
  return isShort ? [] : [invalid('metadata.name', name, 'must be no more than 253 bytes')]
}

/** Errors of a name that is one part of a path. */
export function checkPathSegment(field: string, name: string): readonly FieldError[] {
  if (name === '.' || name === '..') return [invalid(field, name, `may not be '${name}'`)]
  return ['/', '%']
    .filter((sign) => name.includes(sign))
    .map((sign) => invalid(field, name, `may not contain '${sign}'`))
}

/** Whether a name is a lowercase RFC 1123 subdomain. */
export function isSubdomain(name: string): boolean {
  return name.length <= 253 && dns1123Subdomain.test(name)
}

/** What keeps a name from being one of a namespace. */
export function checkNamespaceName(field: string, name: string): readonly FieldError[] {
  return isSubdomain(name) ? checkOneLabel(field, name) : [invalid(field, name, namespaceRule)]
}

/** The name of a namespace is one label, unlike the names of other objects: it is part of host names. */
export function checkOneLabel(field: string, name: string): readonly FieldError[] {
  return /^[^.]{0,63}$/.test(name) ? [] : [invalid(field, name, namespaceRule)]
}

const namespaceRule =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', 63 characters at most"

/** Of all annotations of an object, as Kubernetes has it. */
const annotationBytesMax = 256 * 1024

/** A character has three bytes at most for each of its units. */
function checkAnnotationBytes({ annotations = {} }: ObjectMeta): readonly FieldError[] {
  let units = 0
  for (const key in annotations) units += key.length + (annotations[key]?.length ?? 0)
  if (units * 3 <= annotationBytesMax) return []
  const encoder = new TextEncoder()
  const bytes = Object.entries(annotations)
    .flat()
    .map((each) => encoder.encode(each).length)
  const isLong = bytes.reduce((sum, length) => sum + length, 0) > annotationBytesMax
  return isLong ? [tooLong('metadata.annotations', annotationBytesMax)] : []
}

function checkLabels({ labels = {}, annotations = {} }: ObjectMeta): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const key in labels) if (errors.length < errorsMax) errors.push(...checkQualifiedName('metadata.labels', key))
  for (const key in annotations)
    if (errors.length < errorsMax) errors.push(...checkQualifiedName('metadata.annotations', key.toLowerCase(), key))
  for (const value of Object.values(labels)) {
    if (errors.length >= errorsMax) break
    if (!isLabelValue(value)) errors.push(invalid('metadata.labels', value, labelRule))
  }
  return errors
}

const labelRule =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character, 63 characters at most"

/** `said`: as the writer says it. Of annotations alone, letters of a prefix may be large. */
export function checkQualifiedName(field: string, key: string, said = key): readonly FieldError[] {
  if (isQualifiedName(key)) return []
  const name = key.split('/').at(-1) ?? ''
  return [
    ...(name.length > nameLengthMax ? [invalid(field, said, nameLengthRule)] : []),
    ...(key.length - name.length - 1 > prefixLengthMax ? [invalid(field, said, prefixLengthRule)] : []),
    ...(qualifiedName.test(key) ? [] : [invalid(field, said, nameRule)]),
  ]
}

const nameLengthRule = `name part must be no more than ${nameLengthMax} characters`
const prefixLengthRule = `prefix part must be no more than ${prefixLengthMax} characters`
const nameRule =
  "name part must consist of alphanumeric characters, '-', '_' or '.', with an optional DNS subdomain prefix and '/'"

function checkOwners({ ownerReferences: owners = [] }: ObjectMeta): readonly FieldError[] {
  const errors: FieldError[] = []
  for (const [i, owner] of owners.entries()) {
    for (const field of ownerTexts) {
      const path = `metadata.ownerReferences[${i}].${field}`
      if (!owner[field]) errors.push(fieldRequired(path, ''))
      else if (owner[field].length > ownerLengthMax[field]) errors.push(tooLong(path, ownerLengthMax[field]))
    }
  }
  for (const [i, { apiVersion }] of owners.entries())
    if (apiVersion && !/^(?:[^/]+\/)?[^/]+$/.test(apiVersion))
      errors.push(invalid(`metadata.ownerReferences[${i}].apiVersion`, apiVersion, 'version must not be empty'))
  for (const [i, { apiVersion, kind }] of owners.entries())
    if (apiVersion === 'v1' && kind === 'Event')
      errors.push(invalid(`metadata.ownerReferences[${i}]`, '', '/v1, Kind=Event is disallowed from being an owner'))
  const controllers = owners.filter((owner) => owner.controller === true)
  if (controllers.length > 1) {
    errors.push(
      invalid(
        'metadata.ownerReferences',
        controllers.map((owner) => owner.name).join(', '),
        'Only one reference can have Controller set to true',
      ),
    )
  }
  return errors
}

function checkFinalizers({ finalizers: names = [] }: ObjectMeta): readonly FieldError[] {
  const rule = 'must be a qualified name such as example.com/cleanup'
  return [
    ...names.filter((name) => !isQualifiedName(name)).map((name) => invalid('metadata.finalizers', name, rule)),
    ...(names.includes('orphan') && names.includes('foregroundDeletion')
      ? [invalid('metadata.finalizers', names, 'finalizer orphan and foregroundDeletion cannot be both set')]
      : []),
  ]
}

/** The finalizers that a write adds and that say no domain. Each program could have the same. */
export function findPlainFinalizers(next: ObjectMeta, live?: ObjectMeta): readonly string[] {
  const { finalizers = [] } = next
  const plain = finalizers.filter((name) => !name.includes('/') && !standardFinalizers.includes(name))
  if (plain.length === 0) return plain
  const had = new Set(live?.finalizers)
  return plain.filter((name) => !had.has(name))
}

const standardFinalizers: readonly string[] = ['kubernetes', 'orphan', 'foregroundDeletion']

/** Kinds of Kubernetes' own take none of these. */
export function checkPlainFinalizers(next: ObjectMeta, live?: ObjectMeta): readonly FieldError[] {
  const rule = 'name is neither a standard finalizer name nor is it fully qualified'
  return findPlainFinalizers(next, live).map((name) => invalid('metadata.finalizers', name, rule))
}

/** An object that is being deleted takes no new finalizers. */
export function checkNoNewFinalizers(live: ApiObject, next: ApiObject): readonly FieldError[] {
  if (!isDeleting(live)) return []
  const had = new Set(live.metadata.finalizers)
  const added = (next.metadata.finalizers ?? []).filter((name) => !had.has(name))
  if (added.length === 0) return []
  return [
    forbidden(
      'metadata.finalizers',
      `no new finalizers can be added if the object is being deleted, found new finalizers ${JSON.stringify(added)}`,
    ),
  ]
}
