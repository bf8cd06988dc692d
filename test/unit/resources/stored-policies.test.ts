import { describe, expect, it } from 'vitest'
import { createAccessBook } from '../../../shared/model/access/access-book.ts'
import type { JsonObject } from '../../../shared/model/json.ts'
import { keyOf } from '../../../shared/model/object-key.ts'
import type { ApiObject } from '../../../shared/model/object.ts'
import type { AdmissionBudget } from '../../../shared/model/policy/admission-budget.ts'
import { policyKind } from '../../../shared/resources/policy-kinds.ts'
import type { Reviewed } from '../../../shared/resources/policy-review.ts'
import {
  bindingOf,
  creation,
  deletion,
  endOf,
  kind,
  mutating,
  openAdmission,
  rule,
  strangeRule,
  thing,
  validating,
  webhooks,
} from './admission-world.ts'

const large = thing({ text: 'x'.repeat(50_000) })
const deniedBy = (policy: string, why: string, binding = policy) =>
  `INVALID: things.g.dev "t" is forbidden: ValidatingAdmissionPolicy '${policy}' with binding '${binding}' denied request: ${why}`
const failed = (expression: string) => `failed expression: ${expression}`

/** What is known of an object that is damaged. */
const leftOf = (damaged: string): ApiObject => ({
  ...thing(),
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: damaged,
  metadata: { name: 'd', uid: 'u', resourceVersion: '1', generation: 1, creationTimestamp: '1970-01-01T00:00:00Z' },
})

describe('what is stored about admission', () => {
  it('is read once, and has no say where there is nothing', async () => {
    const { mutate, review, store } = openAdmission()
    expect(await review(creation)).toEqual([])
    expect([mutate(creation), review(creation)]).toEqual([undefined, undefined])
    expect(store.asked).toHaveLength(6)
  })

  it('says of a change ahead of the first look what it says later', async () => {
    expect(await openAdmission().mutate(creation)).toStrictEqual({ object: creation.object, warnings: [] })
    expect(await openAdmission().mutate(deletion)).toStrictEqual({ warnings: [] })
    const { mutate } = openAdmission({
      objects: mutating('p', ['[JSONPatch{op: "add", path: "/spec/size", value: 2}]']),
    })
    for (let i = 0; i < 2; i++) expect(await mutate(creation)).toMatchObject({ object: { spec: { size: 2 } } })
  })

  it('says of a review ahead of the first look what it says later', async () => {
    const { review } = openAdmission({ objects: validating('p', 'object.spec.size > 1') })
    for (let i = 0; i < 2; i++)
      expect(await endOf(review(creation))).toBe(deniedBy('p', failed('object.spec.size > 1')))
  })

  it('has no say about itself', () => {
    const everything = { ...rule, apiGroups: ['*'] }
    const spec = { matchConstraints: { resourceRules: [everything] } }
    const { review, mutate, store } = openAdmission({ objects: validating('p', 'false', { spec }) })
    const about = { ...creation, kind: policyKind }
    expect([review(about), mutate(about), store.asked]).toEqual([undefined, undefined, []])
  })

  it.each([
    'ValidatingAdmissionPolicy',
    'ValidatingAdmissionPolicyBinding',
    'MutatingAdmissionPolicy',
    'MutatingAdmissionPolicyBinding',
    'ValidatingWebhookConfiguration',
    'MutatingWebhookConfiguration',
  ])('refuses all but itself while a %s is damaged, and asks it again once it is gone', async (damagedKind) => {
    const { review, mutate, store, follow } = openAdmission({ damagedKind })
    for (let i = 0; i < 2; i++)
      for (const ask of [review, mutate])
        expect(await endOf(ask(deletion))).toBe(
          `DAMAGED: ${damagedKind} "d" is damaged, so that nobody knows which requests it denies: they are refused until it is deleted or put back (docs/damage.md)`,
        )
    const about = { ...creation, kind: policyKind }
    expect([review(about), mutate(about)]).toEqual([undefined, undefined])
    await follow(store).remove({ object: leftOf(damagedKind), engine: {} })
    expect([await review(creation), mutate(creation)]).toEqual([[], undefined])
  })

  it.each<[string, readonly ApiObject[], Reviewed, boolean]>([
    [
      'a policy of other rules',
      validating('p', 'true', { spec: { matchConstraints: { resourceRules: [strangeRule] } } }),
      creation,
      false,
    ],
    ['a policy', validating('p', 'true'), creation, true],
    ['a webhook of other rules', [webhooks('Validating', { name: 'h.dev', rules: [strangeRule] })], creation, false],
    ['a webhook without rules', [webhooks('Validating', { name: 'h.dev', rules: [] })], creation, false],
    ['a webhook that says nothing of rules', [webhooks('Validating', { name: 'h.dev', rules: null })], creation, false],
    ['a webhook', [webhooks('Validating', { name: 'h.dev' })], creation, true],
    [
      'a policy, and a webhook of other rules',
      [...validating('p', 'true'), webhooks('Validating', { name: 'h.dev', rules: [strangeRule] })],
      creation,
      true,
    ],
    ['a policy that changes things', mutating('p', []), creation, false],
    ['a policy without a binding', validating('p', 'true').slice(0, 1), creation, false],
  ])('%s is asked, at once or not at all', async (_what, objects, asked, isAsked) => {
    const { review } = openAdmission({ objects })
    await review(asked)
    expect(review(asked) !== undefined).toBe(isAsked)
  })

  it('is read again after a write that goes by', async () => {
    const { review, follow, store } = openAdmission()
    await review(creation)
    const followed = follow(store)
    for (const object of validating('p', 'false')) await followed.create({ object, engine: {} })
    expect(await endOf(review(creation))).toBe(deniedBy('p', failed('false')))
    const [policy] = validating('p', 'true')
    const live = await store.get(keyOf(policy as ApiObject))
    if (live === undefined || policy === undefined) throw new Error('it is stored')
    const next = await followed.replace({ ...live, object: { ...policy, metadata: live.object.metadata } }, ['spec'])
    expect(await endOf(review(creation))).toEqual([])
    await followed.remove(next)
    expect(await review(creation)).toEqual([])
    expect(review(creation)).toBeUndefined()
    const looks = store.asked.length
    await followed.create({ object: thing(), engine: {} })
    expect(review(creation)).toBeUndefined()
    expect(store.asked).toHaveLength(looks + 1)
  })

  it('is read again when it is old', async () => {
    const { review, store, clock } = openAdmission({ maxAgeMs: 1_000 })
    await review(creation)
    for (const object of validating('p', 'false')) store.put(object)
    expect(review(creation)).toBeUndefined()
    await clock.advance(1_001)
    expect(await endOf(review(creation))).toBe(deniedBy('p', failed('false')))
  })
})

describe('a policy', () => {
  const isN = { matchLabels: { of: 'n' } }
  const isM = { matchLabels: { of: 'm' } }
  const rules = { resourceRules: [rule] }
  const no = 'object.spec.size > 1'

  it.each<[string, JsonObject, JsonObject, boolean]>([
    ['that fits', {}, {}, true],
    ['of another namespace', { matchConstraints: { ...rules, namespaceSelector: isM } }, {}, false],
    ['of this namespace', { matchConstraints: { ...rules, namespaceSelector: isN } }, {}, true],
    ['bound to another namespace', {}, { matchResources: { namespaceSelector: isM } }, false],
    ['bound to this namespace', {}, { matchResources: { namespaceSelector: isN } }, true],
    [
      'that fails, and is ignored',
      { failurePolicy: 'Ignore', validations: [{ expression: '[1][5] == 1' }] },
      {},
      false,
    ],
  ])('%s denies', async (...row) => {
    const [, spec, binding, isDenied] = row
    const { review } = openAdmission({ objects: validating('p', no, { spec, binding }) })
    const end = await endOf(review(creation))
    expect(end).toEqual(isDenied ? deniedBy('p', failed(no)) : [])
  })

  it.each([
    [['*'], 'v1'],
    [['v2'], 'v2'],
    [['v2', 'v1'], 'v1'],
  ])('of the versions %j sees an object of %s', async (apiVersions, version) => {
    const spec = { matchConstraints: { resourceRules: [{ ...rule, apiVersions }] } }
    const expression = `object.apiVersion == 'g.dev/${version}' && request.kind.version == '${version}'`
    const { review } = openAdmission({ objects: validating('p', expression, { spec }) })
    expect(await endOf(review(creation))).toEqual([])
  })

  const expressions = [
    'request.name == "t"',
    'request.namespace == "n"',
    'request.operation == "CREATE"',
    'request.userInfo.username == "ann" && request.userInfo.groups == ["people"]',
    'request.resource.resource == "things"',
    '!request.dryRun',
    'oldObject == null',
    'namespaceObject.metadata.labels.of == "n"',
    'request.options.kind == "CreateOptions"',
  ]
  it.each(expressions)('sees that %s', async (expression) => {
    const { review } = openAdmission({ objects: validating('p', expression) })
    expect(await endOf(review(creation))).toEqual([])
  })

  const warned = (policy: string, why: string) =>
    `Validation failed for ValidatingAdmissionPolicy '${policy}' with binding '${policy}': ${why}`
  const both = [
    { expression: no, message: 'too small' },
    { expression: 'object.spec.size > 2', message: 'far too small' },
  ]
  const note = (message: string, expressionIndex: number, validationActions: readonly string[]) => ({
    message,
    policy: 'p',
    binding: 'p',
    expressionIndex,
    validationActions,
  })
  it.each([
    [['Deny'], both, deniedBy('p', 'too small'), []],
    [['Warn'], both, [warned('p', 'too small'), warned('p', 'far too small')], []],
    [['Audit'], both, [], [note('too small', 0, ['Audit']), note('far too small', 1, ['Audit'])]],
    [['Audit'], both.slice(1), [], [note('far too small', 0, ['Audit'])]],
    [['Deny', 'Audit'], both.slice(0, 1), deniedBy('p', 'too small'), [note('too small', 0, ['Deny', 'Audit'])]],
    [['Warn', 'Audit'], [{ expression: 'true' }], [], []],
    [['Deny', 'Warn'], [{ expression: 'true' }], [], []],
    [
      ['Audit'],
      [{ expression: '[1][5] == 1' }],
      [],
      [note("expression '[1][5] == 1' resulted in error: index out of bounds: 5", 0, ['Audit'])],
    ],
  ] as const)('bound to %j says of what it finds', async (...row) => {
    const [validationActions, validations, end, notes] = row
    const { review } = openAdmission({
      objects: validating('p', validations, { binding: { validationActions: [...validationActions] } }),
    })
    const written: (readonly [string, unknown])[] = []
    const annotate = (name: string, value: string): void => void written.push([name, JSON.parse(value)])
    expect(await endOf(review({ ...creation, annotate }))).toEqual(end)
    const key = 'validation.policy.admission.k8s.io/validation_failure'
    expect(written).toEqual(notes.length === 0 ? [] : [[key, notes]])
  })

  it('says no more of what it finds than a record keeps', async () => {
    const long = { expression: no, message: 'too small '.repeat(50).trim() }
    const binding = { validationActions: ['Audit'] }
    const others = Array.from({ length: 9 }, (_, i) => bindingOf('p', binding, `other-${i}`))
    const { review } = openAdmission({ objects: [...validating('p', [long], { binding }), ...others] })
    const lengths: number[] = []
    await review({ ...creation, annotate: (_, value) => void lengths.push(value.length) })
    expect(lengths).toEqual([expect.any(Number), expect.any(Number)])
    expect(lengths[0]).toBeLessThan(1_000)
    expect(lengths[1]).toBeGreaterThanOrEqual(1_000)
  })

  it('writes notes of its own under its name', async () => {
    const spec = { auditAnnotations: [{ key: 'size', valueExpression: 'string(object.spec.size)' }] }
    const { review } = openAdmission({ objects: validating('p', 'true', { spec }) })
    const written: unknown[] = []
    await review({ ...creation, annotate: (...one) => void written.push(one) })
    expect(written).toEqual([['p/size', '1']])
  })

  it('stands beside others, each of which speaks', async () => {
    const warn = { binding: { validationActions: ['Warn'] } }
    const objects = [...validating('a', no, warn), ...validating('b', no, warn), ...validating('c', 'true', warn)]
    const { review } = openAdmission({
      objects: [...objects, bindingOf('a', { validationActions: ['Warn'] }, 'second')],
    })
    expect(await review(creation)).toEqual([
      warned('a', failed(no)),
      warned('a', failed(no)).replace("binding 'a'", "binding 'second'"),
      warned('b', failed(no)),
    ])
  })

  it('may take as many steps as are promised, with all others', async () => {
    const heavy = 'object.spec.list.all(x, object.spec.list.all(y, x + y >= 0))'
    const list = (count: number) => ({ ...creation, object: thing({ list: Array.from({ length: count }, () => 1) }) })
    const { review } = openAdmission({ objects: [...validating('p', heavy), ...validating('q', heavy)] })
    expect(await endOf(review(list(10)))).toEqual([])
    expect(await endOf(review(list(140)))).toContain('running out of cost budget')
  })
})

describe('the parameters of a policy', () => {
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' }
  const limit = (name: string, max: string): ApiObject => {
    const metadata = { ...thing().metadata, name, uid: name }
    return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: { max } }
  }
  const expression = 'object.spec.size <= int(params.data.max)'
  const by = (paramRef: JsonObject, more: JsonObject = {}, binding: JsonObject = {}) =>
    validating('p', expression, { spec: { paramKind, ...more }, binding: { paramRef, ...binding } })

  it.each<[string, readonly ApiObject[], unknown]>([
    [
      'are each held against the request',
      [...by({ selector: {} }), limit('a', '3'), limit('b', '0')],
      deniedBy('p', failed(expression)),
    ],
    ['may all fit', [...by({ selector: {} }), limit('a', '3'), limit('b', '2')], []],
    ['may be none', by({ name: 'x' }), []],
    [
      'may be missed, whatever the binding wants',
      by({ name: 'x', parameterNotFoundAction: 'Deny' }, {}, { validationActions: ['Warn'] }),
      deniedBy(
        'p',
        'failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction',
      ),
    ],
    [
      'may be missed, where that is ignored',
      by({ name: 'x', parameterNotFoundAction: 'Deny' }, { failurePolicy: 'Ignore' }),
      [],
    ],
    [
      'may be of no kind',
      validating('p', 'true', {
        spec: { paramKind: { apiVersion: 'v1', kind: 'Odd' } },
        binding: { paramRef: { name: 'x' } },
      }),
      deniedBy('p', "failed to configure binding: failed to find resource referenced by paramKind: 'v1, Kind=Odd'"),
    ],
  ])('%s', async (_what, objects, end) => {
    expect(await endOf(openAdmission({ objects }).review(creation))).toEqual(end)
  })

  it('cost what each of them costs', async () => {
    const spent: number[] = []
    const budget = { spend: (steps: number) => void spent.push(steps) } as unknown as AdmissionBudget
    const objects = [limit('a', '3'), limit('b', '2'), limit('c', '2')]
    await openAdmission({ objects: [...by({ selector: {} }), ...objects] }).review({ ...creation, budget })
    expect([spent.length, spent[0], spent.at(-1)]).toEqual([3, 500, 1_500])
  })
})

describe('rights, of which expressions ask', () => {
  const mayGet = "authorizer.group('g.dev').resource('things').namespace('n').check('get').allowed()"
  const account = `authorizer.serviceAccount('n', 'bot').group('g.dev').resource('things').namespace('n').check('get').allowed()`
  const role = 'rbac.authorization.k8s.io'

  function bookFor(subject: JsonObject) {
    const book = createAccessBook()
    const metadata = { ...thing().metadata, name: 'r' }
    const rules = [{ apiGroups: ['g.dev'], resources: ['things'], verbs: ['get'] }]
    book.note({ apiVersion: `${role}/v1`, kind: 'Role', metadata, rules })
    const roleRef = { apiGroup: role, kind: 'Role', name: 'r' }
    book.note({ apiVersion: `${role}/v1`, kind: 'RoleBinding', metadata, roleRef, subjects: [subject] })
    return book
  }
  const ann = { kind: 'User', apiGroup: role, name: 'ann' }
  const bot = { kind: 'ServiceAccount', namespace: 'n', name: 'bot' }
  const bots = { kind: 'Group', apiGroup: role, name: 'system:serviceaccounts:n' }

  it.each<[string, JsonObject | undefined, string, boolean]>([
    ['who has them', ann, mayGet, true],
    ['who has none', bot, mayGet, false],
    ['an account that has them', bot, account, true],
    ['an account whose group has them', bots, account, true],
    ['an account that has none', ann, account, false],
    ['where nobody knows', undefined, mayGet, false],
    ['who has them, asked on a line of its own', ann, `object.spec.size > 5 ||\n${mayGet}`, true],
  ])('are those of %s', async (...row) => {
    const [, subject, expression, isAllowed] = row
    const readAccess = subject && (() => bookFor(subject))
    const { review } = openAdmission({ objects: validating('p', expression), ...(readAccess && { readAccess }) })
    expect(await endOf(review(creation))).toEqual(isAllowed ? [] : deniedBy('p', failed(expression)))
  })

  it.each<[string, readonly ApiObject[], number]>([
    ['a policy asks', validating('p', mayGet), 1],
    [
      'a webhook asks',
      [webhooks('Validating', { name: 'h.dev', matchConditions: [{ name: 'c', expression: mayGet }] })],
      1,
    ],
    ['nobody asks', [...validating('p', 'true'), webhooks('Validating', { name: 'h.dev' })], 0],
  ])('are looked up where %s', async (_what, objects, looks) => {
    let looked = 0
    const readAccess = () => {
      looked++
      return bookFor(ann)
    }
    const { review } = openAdmission({ objects, readAccess })
    expect(await endOf(review(creation))).toEqual([])
    expect(looked).toBe(looks)
  })
})

describe('webhooks', () => {
  it('are asked after policies, and warn beside them', async () => {
    const objects = [
      ...validating('p', 'false', { binding: { validationActions: ['Warn'] } }),
      webhooks('Validating', { name: 'a.dev' }, { name: 'b.dev' }),
    ]
    const { review, did } = openAdmission({ objects, answer: (name) => ({ warnings: [`by ${name}`] }) })
    const [first, ...rest] = (await review(creation)) ?? []
    expect([first?.slice(0, 17), rest, did]).toEqual([
      'Validation failed',
      ['by a.dev', 'by b.dev'],
      ['a.dev', 'b.dev'],
    ])
  })

  it('are not asked of what a policy denies', async () => {
    const { review, did } = openAdmission({
      objects: [...validating('p', 'false'), webhooks('Validating', { name: 'a.dev' })],
    })
    expect(await endOf(review(creation))).toContain('denied request')
    expect(did).toEqual([])
  })

  it('are asked of what their selectors let through, in the version that they name', async () => {
    const { review, did, requests } = openAdmission({
      objects: [
        webhooks(
          'Validating',
          { name: 'a.dev', objectSelector: { matchLabels: { x: 'y' } } },
          { name: 'b.dev', rules: [{ ...rule, apiVersions: ['v2'] }] },
          { name: 'c.dev', matchConditions: [{ name: 'large', expression: 'object.spec.size > 1' }] },
        ),
      ],
    })
    await review(creation)
    expect(did).toEqual(['b.dev'])
    expect(requests).toMatchObject([
      { kind: { version: 'v2' }, object: { apiVersion: 'g.dev/v2' }, operation: 'CREATE' },
    ])
  })

  it('are asked of a deletion about what is there', async () => {
    const { review, requests } = openAdmission({ objects: [webhooks('Validating', { name: 'a.dev' })] })
    await review(deletion)
    expect(requests).toMatchObject([{ operation: 'DELETE', object: null, oldObject: { spec: { size: 1 } } }])
  })

  it('leave others their turn around a large object', async () => {
    const objects = [webhooks('Validating', { name: 'v.dev' }), webhooks('Mutating', { name: 'm.dev' })]
    const { review, mutate, did } = openAdmission({ objects })
    await mutate({ ...creation, object: large })
    await review({ ...creation, object: large })
    await mutate(creation)
    await review({ ...creation, kind })
    await mutate(deletion)
    expect(did).toEqual(['rest', 'm.dev', 'rest', 'rest', 'v.dev', 'rest', 'm.dev', 'v.dev', 'm.dev'])
  })

  it('leave others their turn behind an object that they have made large', async () => {
    const answer = () => [{ op: 'add', path: '/spec/text', value: 'x'.repeat(50_000) }]
    const { mutate, did } = openAdmission({ objects: [webhooks('Mutating', { name: 'm.dev' })], answer })
    await mutate(creation)
    expect(did).toEqual(['m.dev', 'rest'])
  })
})
