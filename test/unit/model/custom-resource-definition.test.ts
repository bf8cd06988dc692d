import { describe, expect, it } from 'vitest'
import type { Condition } from '../../../shared/model/conditions.ts'
import { acceptCrd } from '../../../shared/model/crd/accept-crd.ts'
import { checkCrd } from '../../../shared/model/crd/check-crd.ts'
import { customResourceDefinitionSchema } from '../../../shared/model/crd/crd-schema.ts'
import type {
  CustomResourceDefinition,
  CustomResourceDefinitionSpec,
  CustomResourceDefinitionVersion,
} from '../../../shared/model/custom-resource-definition.ts'
import { prune } from '../../../shared/model/schema/prune.ts'

const v1: CustomResourceDefinitionVersion = {
  name: 'v1',
  served: true,
  storage: true,
  subresources: { status: {} },
  schema: {
    openAPIV3Schema: {
      type: 'object',
      properties: {
        spec: {
          type: 'object',
          properties: {
            color: { type: 'string' },
            size: { type: 'integer' },
            tags: { type: 'array', items: { type: 'string' } },
          },
        },
        status: { type: 'object', properties: { phase: { type: 'string' } } },
      },
    },
  },
}

const spec: CustomResourceDefinitionSpec = {
  group: 'example.com',
  scope: 'Namespaced',
  names: { kind: 'Widget', plural: 'widgets' },
  versions: [v1],
}

const widgets: CustomResourceDefinition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.example.com' },
  spec,
}

function withSpec(changes: Partial<CustomResourceDefinitionSpec>): CustomResourceDefinition {
  return { ...widgets, spec: { ...spec, ...changes } }
}

function withNames(names: object): CustomResourceDefinition {
  return withSpec({ names: { ...spec.names, ...names } })
}

function withVersion(changes: object): CustomResourceDefinition {
  return withSpec({ versions: [{ ...v1, ...changes }] })
}

function inGroup(group: string, annotations: Record<string, string> = {}): CustomResourceDefinition {
  return { ...withSpec({ group }), metadata: { name: `widgets.${group}`, annotations } }
}

const noDot = (group: string): string =>
  `spec.group: Invalid value: "${group}": should be a domain with at least one dot`

interface Row {
  readonly because: string
  readonly crd: unknown
  /** Beginnings of `path: message`; none if the definition is accepted. */
  readonly errors?: readonly string[]
}

const version = 'spec.versions[0]'
const column = { name: 'Color', type: 'string' as const, jsonPath: '.spec.color' }
const manyVersions = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ ...v1, name: `v${i + 1}`, storage: i === 0 }))
const columns = (count: number) => Array.from({ length: count }, () => column)

/** Patterns take so many steps to compile in all, wherever they stand. */
function patternRows(): readonly Row[] {
  const large = (i: number): string => `(?:ab|cd){110}${i}`
  const fields = (count: number, make: (i: number) => object): object =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, { type: 'string', ...make(i) }]))
  const of = (because: string, properties: object, at?: string): Row => ({
    because: `patterns take so many steps in all: ${because}`,
    crd: withVersion({ schema: { openAPIV3Schema: { type: 'object', properties } } }),
    ...(at !== undefined && {
      errors: [
        `${version}.schema.openAPIV3Schema.properties${at}: Forbidden: its pattern and those before it take more than 1000000 steps to compile; repeat less`,
      ],
    }),
  })
  const rule = (i: number): object => ({ rule: `self.matches('${large(i)}')` })
  const said = (i: number): object => ({ rule: 'true', messageExpression: `self.find('${large(i)}')` })
  return [
    of(
      'eight are few enough',
      fields(8, (i) => ({ pattern: large(i) })),
    ),
    of(
      'the ninth is too many',
      fields(3_000, (i) => ({ pattern: large(i) })),
      '[f8].pattern',
    ),
    of(
      'the same counts once',
      fields(3_000, () => ({ pattern: large(0) })),
    ),
    of(
      'in items',
      fields(9, (i) => ({ type: 'array', items: { type: 'string', pattern: large(i) } })),
      '[f8].items.pattern',
    ),
    of(
      'in branches',
      fields(9, (i) => ({ anyOf: [{ pattern: large(i) }] })),
      '[f8].anyOf[0].pattern',
    ),
    of(
      'in what may not be',
      fields(9, (i) => ({ not: { pattern: large(i) } })),
      '[f8].not.pattern',
    ),
    of(
      'in rules',
      fields(9, (i) => ({ maxLength: 9, 'x-kubernetes-validations': [rule(i)] })),
      '[f8].x-kubernetes-validations[0].rule',
    ),
    of(
      'in messages of rules',
      fields(9, (i) => ({ maxLength: 9, 'x-kubernetes-validations': [said(i)] })),
      '[f8].x-kubernetes-validations[0].messageExpression',
    ),
    of(
      'a default is none',
      fields(1, () => ({
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        default: fields(9, (i) => ({ pattern: large(i) })),
      })),
    ),
  ]
}

/** Compared with apiextensions-apiserver 0.32, which writes `spec.validation` for the schema of the only version. */
const rows: readonly Row[] = [
  { because: 'a plain definition is fine', crd: widgets },
  ...['rule', 'size'].map((name) => ({
    because: `rules have so many characters in all, also those of a field called ${name}`,
    crd: withVersion({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: {
            [name]: { type: 'integer', 'x-kubernetes-validations': [{ rule: `self > 1${' '.repeat(25_000)}` }] },
          },
        },
      },
    }),
    errors: ['spec.versions: Forbidden: rules of x-kubernetes-validations have 25008 characters in all'],
  })),
  ...patternRows(),
  {
    because: 'an object without a spec is none',
    crd: { ...widgets, spec: undefined },
    errors: ['spec: Required value'],
  },
  {
    because: 'every missing part is named',
    crd: { ...widgets, spec: { names: {}, versions: [{}] } },
    errors: [
      'spec.names.kind: Required value',
      'spec.names.plural: Required value',
      `${version}.name: Required value`,
      `${version}.served: Required value`,
      `${version}.storage: Required value`,
      'spec.group: Required value',
      'spec.scope: Required value',
    ],
  },
  {
    because: 'shapes are checked before meanings',
    crd: withSpec({ versions: 'v1' as never, group: 'x' }),
    errors: ['spec.versions: Invalid value: "string": spec.versions in body must be of type array: "string"'],
  },
  {
    because: 'the name follows from plural and group',
    crd: { ...widgets, metadata: { name: 'widget.example.com' } },
    errors: ['metadata.name: Invalid value: "widget.example.com": must be spec.names.plural+"."+spec.group'],
  },
  {
    because: 'a group is a domain',
    crd: inGroup('example'),
    errors: [noDot('example')],
  },
  {
    because: 'a domain is in lower case',
    crd: inGroup('Example.com'),
    errors: ['spec.group: Invalid value: "Example.com": a lowercase RFC 1123 subdomain must'],
  },
  {
    because: 'groups of Kubernetes are not for everybody',
    crd: inGroup('apps.k8s.io'),
    errors: [
      'metadata.annotations[api-approved.kubernetes.io]: Required value: protected groups must have approval annotation',
    ],
  },
  {
    because: 'an approval is a URL',
    crd: inGroup('apps.k8s.io', { 'api-approved.kubernetes.io': 'yes' }),
    errors: ['metadata.annotations[api-approved.kubernetes.io]: Invalid value: "yes": protected groups must'],
  },
  {
    because: 'approved kinds are welcome',
    crd: inGroup('gateway.networking.k8s.io', { 'api-approved.kubernetes.io': 'https://github.com/x/1' }),
  },
  {
    because: 'unapproved kinds may say so',
    crd: inGroup('apps.k8s.io', { 'api-approved.kubernetes.io': 'unapproved, experimental' }),
  },
  { because: 'a group of Kubernetes without a dot is one too', crd: inGroup('batch'), errors: [noDot('batch')] },
  {
    because: 'unapproved kinds may say so there too',
    crd: inGroup('batch', { 'api-approved.kubernetes.io': 'unapproved, brought by a reconciler' }),
  },
  {
    because: 'an approval makes no other group a domain',
    crd: inGroup('example', { 'api-approved.kubernetes.io': 'unapproved' }),
    errors: [noDot('example')],
  },
  { because: 'a name that only ends alike is not of Kubernetes', crd: inGroup('my-k8s.io') },
  {
    because: 'there are two scopes',
    crd: withSpec({ scope: 'Global' as never }),
    errors: ['spec.scope: Unsupported value: "Global": supported values: "Cluster", "Namespaced"'],
  },
  {
    because: 'names are labels',
    crd: withNames({ singular: 'W', shortNames: ['w', 'a b'], categories: ['-'], kind: 'Wid_get' }),
    errors: [
      'spec.names.kind: Invalid value: "Wid_get": may have mixed case, but should otherwise match: a DNS-1035 label must',
      'spec.names.singular: Invalid value: "W": a DNS-1035 label must',
      'spec.names.shortNames[1]: Invalid value: "a b"',
      'spec.names.categories[0]: Invalid value: "-"',
    ],
  },
  {
    because: 'a list is of another kind than its items',
    crd: withNames({ listKind: 'Widget' }),
    errors: ['spec.names.listKind: Invalid value: "Widget": kind and listKind may not be the same'],
  },
  {
    because: 'objects are stored in one version',
    crd: withSpec({ versions: [{ ...v1, storage: false }] }),
    errors: ['spec.versions: Invalid value: ["v1"]: must have exactly one version marked as storage version'],
  },
  {
    because: 'objects are stored in no more than one version',
    crd: withSpec({ versions: [v1, { ...v1, name: 'v2' }] }),
    errors: ['spec.versions: Invalid value: ["v1","v2"]: must have exactly one version marked as storage version'],
  },
  {
    because: 'versions differ in name',
    crd: withSpec({ versions: [v1, { ...v1, storage: false }] }),
    errors: ['spec.versions: Invalid value: ["v1","v1"]: must contain unique version names'],
  },
  {
    because: 'versions are labels',
    crd: withVersion({ name: '1.0' }),
    errors: [`${version}.name: Invalid value: "1.0": a DNS-1035 label must`],
  },
  {
    because: 'a version has a schema',
    crd: withVersion({ schema: {} }),
    errors: [`${version}.schema.openAPIV3Schema: Required value`],
  },
  {
    because: 'a schema is structural',
    crd: withVersion({ schema: { openAPIV3Schema: { type: 'object', properties: { spec: {} } } } }),
    errors: [
      `${version}.schema.openAPIV3Schema.properties[spec].type: Required value: must not be empty for specified object fields`,
    ],
  },
  {
    because: 'with a status of its own, the root says nothing that concerns both',
    crd: withVersion({
      schema: { openAPIV3Schema: { type: 'object', ...preserving(), maxProperties: 5, required: ['spec'] } },
    }),
    errors: [
      `${version}.schema.openAPIV3Schema.maxProperties: Forbidden: must not be used at the root of the schema if the status subresource is enabled`,
    ],
  },
  {
    because: 'without a status of its own, it may',
    crd: withVersion({
      subresources: {},
      schema: { openAPIV3Schema: { type: 'object', ...preserving(), maxProperties: 5 } },
    }),
  },
  {
    because: 'columns have paths',
    crd: withVersion({ additionalPrinterColumns: [column, { ...column, type: 'date', priority: 1 }] }),
  },
  {
    because: 'paths of columns begin with a dot',
    crd: withVersion({ additionalPrinterColumns: [{ ...column, jsonPath: 'spec.color' }] }),
    errors: [
      `${version}.additionalPrinterColumns[0].jsonPath: Invalid value: "spec.color": must be a simple json path starting with .`,
    ],
  },
  {
    because: 'paths of columns compile',
    crd: withVersion({ additionalPrinterColumns: [{ ...column, jsonPath: '.spec[' }] }),
    errors: [
      `${version}.additionalPrinterColumns[0].jsonPath: Invalid value: ".spec[": must be a valid json path: ".spec[", at 7`,
    ],
  },
  {
    because: 'columns have a name and a type there is',
    crd: withVersion({ additionalPrinterColumns: [{ name: '', type: 'text', jsonPath: '.a' }] }),
    errors: [
      `${version}.additionalPrinterColumns[0].name: Invalid value: ""`,
      `${version}.additionalPrinterColumns[0].type: Unsupported value: "text"`,
    ],
  },
  {
    because: 'scale reads spec and status',
    crd: withVersion({
      subresources: {
        scale: { specReplicasPath: '.status.a', statusReplicasPath: '.status.b', labelSelectorPath: '.metadata.c' },
      },
    }),
    errors: [
      `${version}.subresources.scale.specReplicasPath: Invalid value: ".status.a": should be a json path under .spec`,
      `${version}.subresources.scale.labelSelectorPath: Invalid value: ".metadata.c": should be a json path under either .spec or .status`,
    ],
  },
  {
    because: 'selectable are single fields',
    crd: withVersion({ selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.size' }] }),
  },
  {
    because: 'selectable are entries of maps',
    crd: withVersion({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          properties: { spec: { type: 'object', additionalProperties: { type: 'string' } } },
        },
      },
      selectableFields: [{ jsonPath: '.spec.anything' }],
    }),
  },
  {
    because: 'selectable is nothing else',
    crd: withVersion({
      selectableFields: ['.spec.tags', '.spec.nope', '.metadata.name', '.spec.tags[0]', '.spec.constructor'].map(
        (jsonPath) => ({ jsonPath }),
      ),
    }),
    errors: [
      `${version}.selectableFields[0].jsonPath: Invalid value: ".spec.tags": must point to a field of type string, boolean or integer`,
      `${version}.selectableFields[1].jsonPath: Invalid value: ".spec.nope": is an invalid path: does not refer to a valid field`,
      `${version}.selectableFields[2].jsonPath: Invalid value: ".metadata.name": must not point to fields in metadata`,
      `${version}.selectableFields[3].jsonPath: Invalid value: ".spec.tags[0]": is an invalid path`,
      `${version}.selectableFields[4].jsonPath: Invalid value: ".spec.constructor": is an invalid path`,
    ],
  },
  {
    because: 'what is selectable is a field of a schema that is none',
    crd: withVersion({
      schema: {
        openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties: { color: null } } } },
      },
      selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.color.x' }],
    }),
    errors: [
      `${version}.schema.openAPIV3Schema.properties[spec].properties.color: Invalid value: `,
      `${version}.selectableFields[0].jsonPath: Invalid value: ".spec.color": is an invalid path`,
      `${version}.selectableFields[1].jsonPath: Invalid value: ".spec.color.x": is an invalid path`,
    ],
  },
  {
    because: 'a field is selectable once',
    crd: withVersion({ selectableFields: [{ jsonPath: '.spec.color' }, { jsonPath: '.spec.color' }] }),
    errors: [`${version}.selectableFields[1].jsonPath: Duplicate value: ".spec.color"`],
  },
  {
    because: 'only deprecated versions warn of it',
    crd: withVersion({ deprecationWarning: 'old' }),
    errors: [`${version}.deprecationWarning: Invalid value: "old": can only be set for deprecated versions`],
  },
  {
    because: 'a warning is one line',
    crd: withVersion({ deprecated: true, deprecationWarning: 'old\nstyle' }),
    errors: [
      `${version}.deprecationWarning: Invalid value: "old\\nstyle": must only contain printable UTF-8 characters`,
    ],
  },
  {
    because: 'names of columns and warnings may be short, and a warning as long as this',
    crd: withSpec({
      versions: ['x', 'x'.repeat(256)].map((deprecationWarning, i) => ({
        ...v1,
        name: `v${i + 1}`,
        storage: i === 0,
        deprecated: true,
        deprecationWarning,
        additionalPrinterColumns: [{ ...column, name: 'C' }],
      })),
    }),
  },
  {
    because: 'a warning is no longer than that, and not empty',
    crd: withSpec({
      versions: ['', 'x'.repeat(257)].map((deprecationWarning) => ({ ...v1, deprecated: true, deprecationWarning })),
    }),
    errors: [
      'spec.versions[0].deprecationWarning: Invalid value: ""',
      'spec.versions[1].deprecationWarning: Too long: may not be more than 256 bytes',
    ],
  },
  {
    because: 'eight fields are selectable',
    crd: withVersion({ ...selecting(8) }),
  },
  {
    because: 'a ninth is not',
    crd: withVersion({ ...selecting(9) }),
    errors: [`${version}.selectableFields: Too many: 9: must have at most 8 items`],
  },
  {
    because: 'a condition may have no time',
    crd: { ...widgets, status: { conditions: [{ type: 'Other', status: 'True', lastTransitionTime: null }] } },
  },
  {
    because: 'a conversion by webhook names the webhook',
    crd: withSpec({ conversion: { strategy: 'Webhook' } }),
    errors: ['spec.conversion.webhook: Required value: required when strategy is set to Webhook'],
  },
  {
    because: 'preserving is a matter of the schema',
    crd: withSpec({ preserveUnknownFields: true }),
    errors: [
      'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields',
    ],
  },
  { because: 'not preserving is fine', crd: withSpec({ preserveUnknownFields: false }) },
  {
    because: 'rules may have so many characters in all',
    crd: withVersion({
      schema: {
        openAPIV3Schema: {
          type: 'object',
          'x-kubernetes-validations': [9_996, 9_996, 4_996].map((more) => ({ rule: `true${' '.repeat(more)}` })),
        },
      },
    }),
  },
  {
    because: 'rules of all versions count together',
    crd: withSpec({
      versions: [v1, { ...v1, name: 'v2', storage: false }].map((one) => ({
        ...one,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            'x-kubernetes-validations': [{ rule: `true${' '.repeat(12_497)}` }],
          } as const,
        },
      })),
    }),
    errors: [
      'spec.versions: Forbidden: rules of x-kubernetes-validations have 25002 characters in all, and may have 25000',
    ],
  },
  {
    because: 'names are there',
    crd: {
      ...withSpec({
        group: '',
        names: { kind: '', plural: '', singular: '', listKind: '', shortNames: [''], categories: [''] },
      }),
      metadata: { name: '.' },
    },
    errors: [
      'spec.group: Required value',
      'spec.names.plural: Required value',
      'spec.names.kind: Required value',
      'spec.names.singular: Required value',
      'spec.names.listKind: Required value',
      'spec.names.shortNames[0]: Required value',
      'spec.names.categories[0]: Required value',
    ],
  },
  {
    because: 'an empty approval is none',
    crd: inGroup('apps.k8s.io', { 'api-approved.kubernetes.io': '' }),
    errors: ['metadata.annotations[api-approved.kubernetes.io]: Required value'],
  },
  {
    because: 'there are so many versions at most',
    crd: withSpec({ versions: manyVersions(101) }),
    errors: ['spec.versions: Too many: 101: must have at most 100 items'],
  },
  { because: 'there may be so many versions', crd: withSpec({ versions: manyVersions(100) }) },
  {
    because: 'there are so many columns at most',
    crd: withVersion({ additionalPrinterColumns: columns(65) }),
    errors: [`${version}.additionalPrinterColumns: Too many: 65: must have at most 64 items`],
  },
  {
    because: 'columns beyond that are not looked at',
    crd: withVersion({ additionalPrinterColumns: [...columns(64), { ...column, jsonPath: 'x' }] }),
    errors: [`${version}.additionalPrinterColumns: Too many: 65`],
  },
  { because: 'there may be so many columns', crd: withVersion({ additionalPrinterColumns: columns(64) }) },
  {
    because: 'a format may be said as the empty text, which is none',
    crd: withVersion({ additionalPrinterColumns: [{ ...column, format: '' }] }),
  },
  {
    because: 'a column has a path',
    crd: withVersion({ additionalPrinterColumns: [{ ...column, jsonPath: '' }] }),
    errors: [`${version}.additionalPrinterColumns[0].jsonPath: Required value`],
  },
  {
    because: 'a version that is deprecated may say so in its own words',
    crd: withVersion({ deprecated: true, deprecationWarning: 'old, really' }),
  },
  {
    because: 'scale reads single fields',
    crd: withVersion({
      subresources: { scale: { specReplicasPath: '.spec.a[0]', statusReplicasPath: '', labelSelectorPath: '' } },
    }),
    errors: [
      `${version}.subresources.scale.specReplicasPath: Invalid value: ".spec.a[0]": must be field names with a dot before each`,
      `${version}.subresources.scale.statusReplicasPath: Required value`,
    ],
  },
  {
    because: 'a selector of scale is in either place, or nowhere',
    crd: withSpec({
      versions: ['.spec.c', '.status.c', undefined].map((labelSelectorPath, i) => ({
        ...v1,
        name: `v${i + 1}`,
        storage: i === 0,
        subresources: {
          scale: {
            specReplicasPath: '.spec.a',
            statusReplicasPath: '.status.b',
            ...(labelSelectorPath !== undefined && { labelSelectorPath }),
          },
        },
      })),
    }),
  },
  {
    because: 'beside a status, the root may say what means nothing for an object',
    crd: withVersion({
      schema: {
        openAPIV3Schema: {
          ...v1.schema?.openAPIV3Schema,
          title: 'a',
          description: 'b',
          required: ['spec'],
          nullable: false,
          'x-kubernetes-validations': [{ rule: 'true' }],
        },
      },
    }),
  },
  {
    because: 'a conversion by webhook says where, and in which versions',
    crd: withSpec({ conversion: { strategy: 'Webhook', webhook: {} } }),
    errors: [
      'spec.conversion.webhook.clientConfig: Required value: required when strategy is set to Webhook',
      'spec.conversion.webhook.conversionReviewVersions: Required value: must specify one of v1, v1beta1',
    ],
  },
  {
    because: 'a conversion by webhook is fine with both',
    crd: withSpec({
      conversion: {
        strategy: 'Webhook',
        webhook: { clientConfig: { url: 'https://h.dev' }, conversionReviewVersions: ['v1'] },
      },
    }),
  },
  { because: 'no conversion is fine', crd: withSpec({ conversion: { strategy: 'None' } }) },
  {
    because: 'no conversion has a webhook',
    crd: withSpec({ conversion: { strategy: 'None', webhook: {} } }),
    errors: ['spec.conversion.webhook: Forbidden: should not be set when strategy is not set to Webhook'],
  },
  {
    because: 'what is selectable is a path of fields',
    crd: withVersion({
      selectableFields: ['spec.color', '.spec', '.spec..color', '', '.spec.color.x'].map((jsonPath) => ({ jsonPath })),
    }),
    errors: [
      `${version}.selectableFields[0].jsonPath: Invalid value: "spec.color": is an invalid path: must be field names`,
      `${version}.selectableFields[1].jsonPath: Invalid value: ".spec": must point to a field of type`,
      `${version}.selectableFields[2].jsonPath: Invalid value: ".spec..color": is an invalid path: must be field names`,
      `${version}.selectableFields[3].jsonPath: Invalid value: "": is an invalid path: must be field names`,
      `${version}.selectableFields[4].jsonPath: Invalid value: ".spec.color.x": is an invalid path: does not refer`,
    ],
  },
  {
    because: 'a flag is selectable',
    crd: withVersion({
      schema: { openAPIV3Schema: { type: 'object', properties: { on: { type: 'boolean' } } } },
      selectableFields: [{ jsonPath: '.on' }],
    }),
  },
  {
    because: 'a version that objects were stored in stays',
    crd: { ...widgets, status: { storedVersions: ['v1alpha1', 'v1'] } },
    errors: [
      'status.storedVersions[0]: Invalid value: "v1alpha1": missing from spec.versions; v1alpha1 was previously a storage version',
    ],
  },
]

function selecting(count: number): object {
  const names = Array.from({ length: count }, (_, i) => `f${i}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]))
  return {
    schema: { openAPIV3Schema: { type: 'object', properties } },
    selectableFields: names.map((name) => ({ jsonPath: `.${name}` })),
  }
}

function preserving(): object {
  return { 'x-kubernetes-preserve-unknown-fields': true }
}

function conditionsOf(accepted: 'True' | 'False', established: 'True' | 'False'): readonly Condition[] {
  const more = { reason: 'X', message: '', lastTransitionTime: '2025-01-01T00:00:00Z' }
  return [
    { type: 'NamesAccepted', status: accepted, ...more },
    { type: 'Established', status: established, ...more },
  ]
}

describe('checkCrd', () => {
  it.each(rows)('$because', ({ crd, errors = [] }) => {
    const found = checkCrd(crd as CustomResourceDefinition).map((error) => `${error.field}: ${error.message}`)
    expect(found.map((line, i) => line.slice(0, errors[i]?.length))).toEqual(errors)
  })

  const established = acceptCrd(widgets, 0)
  const updates = [
    {
      because: 'a schema may change',
      live: established,
      next: withVersion({ schema: { openAPIV3Schema: { type: 'object' } } }),
      fields: [],
    },
    {
      because: 'plural and group never change',
      live: widgets,
      next: {
        ...withSpec({ group: 'example.org', names: { kind: 'Widget', plural: 'gadgets' } }),
        metadata: { name: 'gadgets.example.org' },
      },
      fields: ['spec.group', 'spec.names.plural'],
    },
    {
      because: 'kind and scope do not change once established',
      live: established,
      next: withSpec({ scope: 'Cluster', names: { kind: 'Gadget', plural: 'widgets' } }),
      fields: ['spec.scope', 'spec.names.kind'],
    },
    {
      because: 'kind and scope may change while only the names are accepted',
      live: { ...widgets, status: { conditions: conditionsOf('True', 'False') } },
      next: withSpec({ scope: 'Cluster', names: { kind: 'Gadget', plural: 'widgets' } }),
      fields: [],
    },
    {
      because: 'kind and scope may change before',
      live: widgets,
      next: withSpec({ scope: 'Cluster', names: { kind: 'Gadget', plural: 'widgets' } }),
      fields: [],
    },
  ]

  it.each(updates)('on an update, $because', ({ live, next, fields }) => {
    expect(checkCrd(next, live).map(({ field }) => field)).toEqual(fields)
  })

  it.each([null, 5, 'x', [], {}, { spec: null }, { spec: { names: 1, versions: [null] } }])(
    'takes %j without throwing',
    (given) => {
      expect(checkCrd(given as unknown as CustomResourceDefinition).length).toBeGreaterThan(0)
    },
  )
})

describe('acceptCrd', () => {
  const now = Date.parse('2026-03-01T10:00:00.500Z')

  it('fills in names and gives the status Kubernetes gives', () => {
    const accepted = acceptCrd(widgets, now)
    const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', listKind: 'WidgetList' }
    expect(accepted.spec).toEqual({ ...spec, names, conversion: { strategy: 'None' } })
    const lastTransitionTime = '2026-03-01T10:00:00Z'
    expect(accepted.status).toEqual({
      acceptedNames: names,
      storedVersions: ['v1'],
      conditions: [
        {
          type: 'NamesAccepted',
          status: 'True',
          reason: 'NoConflicts',
          message: 'no conflicts found',
          lastTransitionTime,
        },
        {
          type: 'Established',
          status: 'True',
          reason: 'InitialNamesAccepted',
          message: 'the initial names have been accepted',
          lastTransitionTime,
        },
      ],
    })
    expect(checkCrd(accepted)).toEqual([])
  })

  it('fills in names that are said as empty texts, as Go writes what is not said', () => {
    expect(acceptCrd(withNames({ singular: '', listKind: '' }), now)).toEqual(acceptCrd(widgets, now))
  })

  it('returns a definition that is as it should be as it is, whatever the time', () => {
    const accepted = acceptCrd(widgets, now)
    expect(acceptCrd(accepted, now + 60_000)).toBe(accepted)
  })

  it('keeps the names that were given', () => {
    const { spec: complete } = acceptCrd(
      withNames({ singular: 'wid', listKind: 'Widgets', shortNames: ['wd'], categories: ['all'] }),
      now,
    )
    expect(complete.names).toEqual({
      kind: 'Widget',
      plural: 'widgets',
      singular: 'wid',
      listKind: 'Widgets',
      shortNames: ['wd'],
      categories: ['all'],
    })
  })

  it('remembers every version objects were stored in', () => {
    const accepted = acceptCrd(widgets, now)
    const v2 = { ...v1, name: 'v2' }
    const next = acceptCrd({ ...accepted, spec: { ...accepted.spec, versions: [{ ...v1, storage: false }, v2] } }, now)
    expect(next.status?.storedVersions).toEqual(['v1', 'v2'])
  })

  it('notes when a condition changed, and keeps those of others in their places', () => {
    const other = {
      type: 'Other',
      status: 'True',
      reason: 'X',
      message: '',
      lastTransitionTime: '2025-01-01T00:00:00Z',
    }
    const before = acceptCrd(withNames({ kind: 'Gadget' }), now - 60_000, [gadgets])
    const [names, established] = before.status?.conditions ?? []
    const conditions = [other, established, names] as readonly Condition[]
    const next = acceptCrd({ ...before, status: { ...before.status, conditions } }, now)
    const at = '2026-03-01T10:00:00Z'
    expect(next.status?.conditions).toMatchObject([
      other,
      { type: 'Established', status: 'True', lastTransitionTime: at },
      { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', lastTransitionTime: at },
    ])
    const timeless = [{ ...names, lastTransitionTime: undefined as never }] as readonly Condition[]
    const again = acceptCrd({ ...before, status: { conditions: timeless } }, now, [gadgets])
    expect(again.status?.conditions?.map((one) => one.lastTransitionTime)).toEqual([at, at])
  })

  it('remembers nothing more where no version is stored, or the one that is was before', () => {
    const stored = (versions: readonly CustomResourceDefinitionVersion[], storedVersions: readonly string[]) =>
      acceptCrd({ ...withSpec({ versions }), status: { storedVersions } }, now).status?.storedVersions
    expect(stored([{ ...v1, storage: false }], ['v0'])).toEqual(['v0'])
    expect(stored([v1], ['v1', 'v0'])).toEqual(['v1', 'v0'])
  })

  it('leaves what is not even shaped like a definition to checkCrd', () => {
    const crd = { ...widgets, spec: { ...spec, names: 'widgets' } } as unknown as CustomResourceDefinition
    expect(acceptCrd(crd, now)).toBe(crd)
  })

  const gadgets = acceptCrd(
    {
      ...withNames({ kind: 'Gadget', plural: 'gadgets', shortNames: ['wd'] }),
      metadata: { name: 'gadgets.example.com' },
    },
    now,
  )

  const conflicts = [
    { because: 'the plural', names: { plural: 'gadgets' }, reason: 'PluralConflict', name: 'gadgets' },
    { because: 'the singular', names: { singular: 'gadget' }, reason: 'SingularConflict', name: 'gadget' },
    { because: 'a short name', names: { shortNames: ['w', 'wd'] }, reason: 'ShortNamesConflict', name: 'wd' },
    { because: 'a plural that is another short name', names: { plural: 'wd' }, reason: 'PluralConflict', name: 'wd' },
    {
      because: 'the kind',
      names: { kind: 'Gadget', singular: 'x', listKind: 'X' },
      reason: 'KindConflict',
      name: 'Gadget',
    },
    { because: 'the kind of lists', names: { listKind: 'GadgetList' }, reason: 'ListKindConflict', name: 'GadgetList' },
  ]

  it.each(conflicts)('does not serve a kind when $because is in use in its group', ({ names, reason, name }) => {
    const { status } = acceptCrd(withNames(names), now, [gadgets])
    expect(status?.conditions).toMatchObject([
      { type: 'NamesAccepted', status: 'False', reason, message: `"${name}" is already in use` },
      { type: 'Established', status: 'False', reason: 'NotAccepted', message: 'not all names are accepted' },
    ])
  })

  it('is not established by names that were accepted before', () => {
    const before = { ...withNames({ kind: 'Gadget' }), status: { conditions: conditionsOf('True', 'False') } }
    expect(acceptCrd(before, now, [gadgets]).status?.conditions?.map(({ status }) => status)).toEqual([
      'False',
      'False',
    ])
  })

  it('lets groups have the same names', () => {
    const elsewhere = { ...gadgets, spec: { ...gadgets.spec, group: 'example.org' } }
    expect(acceptCrd(withNames({ kind: 'Gadget' }), now, [elsewhere]).status?.conditions?.[1]?.status).toBe('True')
  })

  it('keeps a name that it shares with another only if it was made before, or by its own name where the time is the same', () => {
    const made = (plural: string, creationTimestamp: string): CustomResourceDefinition => {
      const shared = withNames({ plural, singular: plural, kind: `K${plural}`, shortNames: ['s', plural] })
      return acceptCrd({ ...shared, metadata: { name: `${plural}.example.com`, creationTimestamp } }, now)
    }
    const [early, late] = ['2026-01-01T00:00:01Z', '2026-01-01T00:00:02Z'] as const
    const keeps = (one: CustomResourceDefinition, other: CustomResourceDefinition) => {
      const { status } = acceptCrd(one, now, [one, other])
      return [status?.acceptedNames?.shortNames, ...(status?.conditions ?? []).map((condition) => condition.status)]
    }
    expect(keeps(made('z', early), made('a', late))).toEqual([['s', 'z'], 'True', 'True'])
    expect(keeps(made('z', early), made('a', early))).toEqual([['z'], 'False', 'True'])
    expect(keeps(made('a', early), made('z', early))).toEqual([['s', 'a'], 'True', 'True'])
    expect(keeps(made('a', late), made('z', early))).toEqual([['a'], 'False', 'True'])
  })

  it('goes on serving under the names it had when a new one is in use', () => {
    const accepted = acceptCrd(widgets, now)
    const renamed = { ...accepted, spec: { ...accepted.spec, names: { ...accepted.spec.names, shortNames: ['wd'] } } }
    const { status } = acceptCrd(renamed, now, [gadgets, renamed])
    expect(status?.acceptedNames).toEqual(accepted.spec.names)
    expect(status?.conditions).toMatchObject([{ status: 'False', reason: 'ShortNamesConflict' }, { status: 'True' }])
    const free = acceptCrd({ ...renamed, ...(status && { status }) }, now + 5_000, [])
    expect(free.status?.acceptedNames?.shortNames).toEqual(['wd'])
    expect(free.status?.conditions?.[0]).toMatchObject({ status: 'True', lastTransitionTime: '2026-03-01T10:00:05Z' })
  })
})

it('is pruned of nothing that a definition has, the schemas of its versions among it', () => {
  const full = acceptCrd(withSpec({ conversion: { strategy: 'None' }, preserveUnknownFields: false }), 0)
  expect(prune(customResourceDefinitionSchema, full as never)).toEqual({ value: full, unknown: [] })
})

describe('a definition whose rules might cost too much', () => {
  const tagsWith = (maxItems: object, color: object = {}): CustomResourceDefinition => {
    const rule = "self.all(x, self.exists(y, x + y == 'ab'))"
    const tags = { type: 'array', ...maxItems, items: { type: 'string' }, 'x-kubernetes-validations': [{ rule }] }
    const properties = { spec: { type: 'object', properties: { tags, color: { type: 'string', ...color } } } }
    return withVersion({ schema: { openAPIV3Schema: { type: 'object', properties } } })
  }

  it('is refused with the place of the rule, and taken with bounds', () => {
    const place = `${version}.schema.openAPIV3Schema.properties[spec].properties[tags].x-kubernetes-validations[0].rule`
    const errors = checkCrd(tagsWith({})).map(({ field, message }) => `${field}: ${message}`)
    expect(errors[0]).toContain(`${place}: Forbidden: estimated rule cost exceeds budget by factor of more than 100x`)
    expect(errors[0]).toContain('adding maxItems')
    expect(checkCrd(tagsWith({ maxItems: 3 }))).toEqual([])
  })

  it('is let be as it is stored, and refused with a schema that is another', () => {
    expect(checkCrd({ ...tagsWith({}), metadata: { name: 'widgets.example.com', labels: {} } }, tagsWith({}))).toEqual(
      [],
    )
    expect(checkCrd(tagsWith({}, { maxLength: 5 }), tagsWith({}))).not.toEqual([])
  })
})
