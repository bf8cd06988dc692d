/**
 * The form of a qualified name: an optional DNS subdomain and a slash, then the name part. Its parts have lengths of
 * their own.
 */
export const qualifiedName = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/
export const nameLengthMax = 63
export const prefixLengthMax = 253

const labelValue = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/

/** A value that a label may have. The empty text is one. */
export function isLabelValue(value: string): boolean {
  return value.length <= 63 && labelValue.test(value)
}

/** A name that labels, annotations and finalizers may have: `example.com/name`, or `name` alone. */
export function isQualifiedName(name: string): boolean {
  const [last = ''] = name.split('/').slice(-1)
  const prefixLength = name.length - last.length - 1
  return last.length <= nameLengthMax && prefixLength <= prefixLengthMax && qualifiedName.test(name)
}
