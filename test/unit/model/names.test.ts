import { describe, expect, it } from 'vitest'
import { dnsLabelFault, dnsSubdomainFault } from '../../../shared/model/dns-name.ts'
import { isKubernetesGroup } from '../../../shared/model/kubernetes-groups.ts'
import { isLabelValue, isQualifiedName } from '../../../shared/model/qualified-name.ts'

const label = 'a DNS-1035 label must consist'
const subdomain = 'a lowercase RFC 1123 subdomain must consist'
const long = (most: number): string => `must be no more than ${most} characters`

const told = (fault: string | undefined): readonly string[] =>
  [long(63), long(253), label, subdomain].filter((one) => fault?.includes(one) === true)

describe('a DNS name', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['a', [], []],
    ['a-1', [], []],
    ['1a', [label], []],
    ['a.b', [label], []],
    ['a-', [label], [subdomain]],
    ['A', [label], [subdomain]],
    ['', [label], [subdomain]],
    ['a'.repeat(63), [], []],
    ['a'.repeat(64), [long(63)], []],
    ['a'.repeat(253), [long(63)], []],
    ['a'.repeat(254), [long(63)], [long(253)]],
    [`${'a'.repeat(254)}!`, [long(63), label], [long(253), subdomain]],
  ])('%j', (text, asLabel, asSubdomain) => {
    expect([told(dnsLabelFault(text)), told(dnsSubdomainFault(text))]).toEqual([asLabel, asSubdomain])
  })

  it('that is far too long is told by its begin', () => {
    expect(dnsSubdomainFault(`${'a'.repeat(1_000)}!`)).toBe(long(253))
    expect(dnsSubdomainFault(`${'a'.repeat(999)}!`)).toContain(subdomain)
  })
})

it.each([
  ['', true, false],
  ['a', true, true],
  ['A_b.c-1', true, true],
  ['-a', false, false],
  ['a b', false, false],
  ['a'.repeat(63), true, true],
  ['a'.repeat(64), false, false],
  ['a.dev/x', false, true],
  ['/x', false, false],
  ['a.dev/', false, false],
  ['A.dev/x', false, false],
  ['a/b/c', false, false],
  [`${'a'.repeat(253)}/x`, false, true],
  [`${'a'.repeat(254)}/x`, false, false],
  [`a/${'x'.repeat(63)}`, false, true],
  [`a/${'x'.repeat(64)}`, false, false],
])('%j is the value of a label: %s; a qualified name: %s', (text, isValue, isName) => {
  expect([isLabelValue(text), isQualifiedName(text)]).toEqual([isValue, isName])
})

it.each([
  ['apps', true],
  ['k8s.io', true],
  ['rbac.authorization.k8s.io', true],
  ['x.kubernetes.io', true],
  ['myk8s.io', false],
  ['k8s.io.dev', false],
  ['', false],
])('%j is a group of Kubernetes: %s', (group, is) => {
  expect(isKubernetesGroup(group)).toBe(is)
})
