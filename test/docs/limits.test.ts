import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { namedExpressions, policyKind } from '../../shared/resources/policy-kinds.ts'

/**
 * The table of limits in the reference, beside the constants in the code: a number that moves in one of them and not in
 * the other, a row without a constant, and a constant without a row.
 */
const kib = 1_024

/** The value of `const name = 350 * 1_024`, or of a property `name: 12_000`. */
function constant(file: string, name: string): number {
  return written(file, new RegExp(`(?:\\bconst ${name} =|^\\s+${name}:) ([\\d_]+(?: \\* [\\d_]+)*),?$`, 'm'))
}

/** A number that stands in the code without a name of its own. */
function written(file: string, place: RegExp): number {
  const [, text] = place.exec(readFileSync(file, 'utf8')) ?? []
  if (text === undefined) throw new Error(`${file} has no ${place.source}: the limit has moved`)
  return text.split('*').reduce((product, factor) => product * Number(factor.replaceAll('_', '').trim()), 1)
}

const [model, resources, api] = ['shared/model', 'shared/resources', 'shared/api']
const hook = (name: string): number => constant(`${resources}/run-hooks.ts`, name)
const review = (name: string): number => constant(`${model}/admission-review.ts`, name)
const conversion = (name: string): number => constant(`${resources}/webhook-conversion.ts`, name)
const patch = (name: string): number => constant(`${resources}/json-patch.ts`, name)
const cost = (name: string): number => constant(`${model}/policy/admission-budget.ts`, name)
const pattern = (name: string): number => constant(`${model}/schema/pattern.ts`, name)
const objectBytes = constant(`${model}/size-limit.ts`, 'bytesMax')
const paramsMax = constant(`${resources}/policy-params.ts`, 'paramsMax')
const timeout = /timeoutSeconds >= (\d+) && timeoutSeconds <= \d+/
const timeoutMax = /timeoutSeconds >= \d+ && timeoutSeconds <= (\d+)/
/** Of a text, for a step: `length >> 3`. */
const charactersOfStep = 2 ** written(`${model}/cel/overload.ts`, /meter\.spend\(text\.length >> (\d+)\)/)
const stepsOfValue = constant(`${model}/schema/check-value.ts`, 'stepsOfValue')
const errorsMax = [
  constant(`${model}/schema/walk.ts`, 'mostErrors'),
  constant(`${model}/schema/structural.ts`, 'mostErrors'),
  constant(`${model}/schema/field-error.ts`, 'errorsMax'),
  constant(`${model}/apply/typed/check-config.ts`, 'misfitsMax'),
  constant(`${model}/apply/conflict.ts`, 'conflictsMax'),
  constant(`${api}/verbs/patch.ts`, 'faultsMax'),
  constant(`${api}/duplicate-fields.ts`, 'duplicatesMax'),
]
const watchesMax = written(`${api}/verbs/watch.ts`, /services\.watchesMax \?\? ([\d_]+)/)

/** By what stands in the first column: the numbers of the second one in their order, in bytes and milliseconds. */
const limits: Readonly<Record<string, readonly number[]>> = {
  'body of a request': [constant(`${api}/request-body.ts`, 'bodyBytesMax')],
  'a page of [queues, timers and budgets](#queues-timers-and-budgets)': [
    constant(`${api}/computed/read-computed.ts`, 'pageMax'),
    constant('shared/runtime/computed/timer-objects.ts', 'timersMax'),
    constant('shared/runtime/local/queue-objects.ts', 'keysMax'),
    constant('shared/runtime/computed/timer-objects.ts', 'entriesMax'),
  ],
  'an admission policy': [
    constant(`${resources}/policy-kinds.ts`, 'expressionTextMax'),
    policyKind.schema.properties?.['spec']?.properties?.['validations']?.maxItems ?? 0,
    namedExpressions.maxItems ?? 0,
    paramsMax,
  ],
  'all policies and webhooks of one request, with its repetitions when other writers are ahead': [
    cost('stepsMax'),
    // An example, and no limit.
    100 * kib,
  ],
  'all webhooks of one request': [cost('admissionMsMax')],
  'an admission webhook': [
    written(`${resources}/webhook-kinds.ts`, timeout),
    written(`${resources}/webhook-kinds.ts`, timeoutMax) * 1_000,
    constant(`${resources}/call-webhooks.ts`, 'together'),
    constant(`${resources}/call-webhooks.ts`, 'answerBytesMax'),
    review('operationsMax'),
    review('warningsMax'),
    review('warningLengthMax'),
  ],
  'webhooks of one configuration; their conditions': [
    constant(`${resources}/webhook-kinds.ts`, 'webhooksMax'),
    constant(`${resources}/webhook-kinds.ts`, 'conditionTextMax'),
  ],
  'a call of a conversion webhook': [
    conversion('timeoutMs'),
    conversion('objectsMax'),
    conversion('lengthMax'),
    2 * conversion('lengthMax'),
  ],
  'what conversion webhooks have made, kept': [conversion('keptMax'), conversion('keptLengthMax')],
  'a hook of a kind': [
    hook('hookMsMax'),
    hook('warningsMax'),
    hook('warningLengthMax'),
    hook('problemsMax'),
    hook('messageLengthMax'),
  ],
  'body in YAML': [constant(`${api}/yaml-body.ts`, 'lengthMax'), constant(`${api}/yaml-body.ts`, 'marksMax')],
  'aliases in YAML': [constant(`${api}/yaml-body.ts`, 'aliasesMax')],
  'values of a YAML body with those that `<<` merges into maps': [constant(`${api}/yaml-merges.ts`, 'valuesMax')],
  'fields of a body in protobuf': [constant(`${api}/protobuf/wire.ts`, 'fieldsMax')],
  'levels of nesting in a body': [constant(`${api}/body-depth.ts`, 'bodyDepthMax')],
  'an object in JSON, as sent and as stored': [objectBytes, objectBytes],
  'all annotations of an object, with their names': [constant(`${model}/metadata.ts`, 'annotationBytesMax')],
  'what the defaults of a schema add to an object': [objectBytes],
  'JSON patch: operations': [constant(`${api}/verbs/patch.ts`, 'operationsMax')],
  'JSON patch: text that its operations copy and move': [patch('copiedLengthMax')],
  'JSON patch: items of lists that move up or down': [patch('shiftedItemsMax')],
  'what watches have to say and clients have not taken, in all': [constant(`${api}/watch/unread.ts`, 'bytesMax')],
  'watches that are open in one process': [watchesMax, watchesMax / 2],
  'label and field selectors': [
    constant(`${api}/selection.ts`, 'selectorLengthMax'),
    constant(`${model}/selector.ts`, 'requirementsMax'),
  ],
  'checking an object against its schema': [
    constant(`${model}/schema/walk.ts`, 'stepsMax'),
    stepsOfValue,
    constant(`${model}/schema/check-value.ts`, 'stepsOfField'),
    stepsOfValue + constant(`${model}/schema/check-value.ts`, 'stepsOfBranch'),
    constant(`${model}/schema/scalars.ts`, 'stepsOfFormat'),
  ],
  'items of sets and of lists with keys in an apply': [
    constant(`${model}/apply/typed/check-config.ts`, 'keyedItemsMax'),
  ],
  'errors in an answer, misfits and conflicts of an apply': [
    ...new Set(errorsMax),
    constant(`${model}/schema/field-error.ts`, 'shownLength'),
  ],
  'rules and lists in them that are looked at to decide one request, or what one role may grant': [
    constant(`${model}/access/rule-allows.ts`, 'workMax'),
  ],
  'rules in CEL of one object': [
    constant(`${model}/cel/validate-rules.ts`, 'ruleStepsMax'),
    constant(`${model}/cel/built.ts`, 'stepCost'),
    1,
    constant(`${model}/cel/functions/quantity.ts`, 'stepsOfCharacter'),
    constant(`${model}/cel/functions/conversions.ts`, 'stepsOfDurationCharacter'),
    constant(`${model}/cel/functions/network.ts`, 'stepsOfAddress'),
  ],
  'rules in CEL of a definition': [
    constant(`${model}/crd/check-crd.ts`, 'ruleTextMax'),
    constant(`${model}/cel/parse.ts`, 'lengthMax'),
    constant(`${model}/cel/parse.ts`, 'depthMax'),
    constant(`${model}/cel/cost/check-costs.ts`, 'ruleCostMax'),
    constant(`${model}/cel/cost/check-costs.ts`, 'schemaCostMax'),
  ],
  'a pattern in a schema or an expression': [pattern('longestPattern'), pattern('largestPattern')],
  'all patterns of a definition, a policy or a configuration of webhooks, those in its expressions among them': [
    constant(`${model}/cel/compile-budget.ts`, 'patternStepsMax'),
    pattern('stepsOfPattern'),
    pattern('stepsOfUnrolled'),
    pattern('stepsOfCharacter'),
    pattern('stepsOfClass'),
    pattern('stepsOfCategory'),
  ],
  'types that are looked at to check all expressions of a definition, a policy or a configuration of webhooks': [
    constant(`${model}/cel/type.ts`, 'looksMax'),
  ],
  'a pattern that an expression computes': [],
  'defaults of a version of a definition, held against its schema': [
    constant(`${model}/schema/structural.ts`, 'defaultStepsMax'),
  ],
  'versions of a definition': [constant(`${model}/crd/check-crd.ts`, 'versionsMax')],
  'columns of a version of a definition': [constant(`${model}/crd/check-version.ts`, 'columnsMax')],
  'a row of a table': [
    constant(`${api}/table/table.ts`, 'rowValuesMax'),
    constant(`${api}/table/column.ts`, 'cellLengthMax'),
  ],
  'ResourceQuotas of a namespace; limits of one of them': [
    constant(`${resources}/stored-quotas.ts`, 'perNamespaceMax'),
    constant(`${resources}/quota-kind.ts`, 'maxProperties'),
  ],
}

/** Below the table. */
const steps = [30, cost('call'), cost('binding'), cost('sent'), cost('received'), cost('made')]

const units: Readonly<Record<string, number>> = { KiB: kib, MiB: kib * kib, KB: kib, s: 1_000 }

function numbersIn(text: string): readonly number[] {
  return [...text.matchAll(/(?<![\w#{])(\d[\d,]*)(?: (KiB|MiB|KB|s)\b)?/g)].map(
    ([, digits = '', unit = '']) => Number(digits.replaceAll(',', '')) * (units[unit] ?? 1),
  )
}

const section = /### Limits\n([^]*?)\n## /.exec(readFileSync('docs/reference.md', 'utf8'))?.[1] ?? ''
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .slice(2)
  .map((line) => line.split(' | '))
  .map(([what = '', limit = '']) => [what.replace(/^\| /, ''), limit] as const)

describe('the table of limits', () => {
  it('has a row for each limit, and a limit for each row', () => {
    expect(rows.map(([what]) => what).toSorted()).toEqual(Object.keys(limits).toSorted())
  })

  it.each(rows)('says as the code does: %s', (what, limit) => {
    expect(numbersIn(limit)).toEqual(limits[what])
  })

  it('says what steps are as the code does', () => {
    expect(numbersIn(section.split('\n').findLast((line) => line.startsWith('A step is')) ?? '')).toEqual(steps)
    expect(charactersOfStep).toBe(8)
  })

  it('has one number for the errors of an answer, whoever finds them', () => {
    expect(new Set(errorsMax)).toEqual(new Set([100]))
  })
})
