import { expect, it } from 'vitest'
import { warnOfFinalizers } from '../../../shared/api/finalizer-warnings.ts'

it.each<readonly [string, object, object, readonly string[]]>([
  ['a plain name', {}, {}, ['finalizer name to']],
  ['a name with a domain and no path', {}, { finalizers: ['example.com'] }, ['finalizer name including a path (/) to']],
  ['a name with a domain and a path', {}, { finalizers: ['example.com/a'] }, []],
  ['a kind that comes with the control plane', { builtIn: true }, {}, []],
  ['a write that changed nothing', { outcome: 'unchanged' }, {}, []],
  ['a name that was there before', { before: ['plain'] }, {}, []],
])(
  'warnings of finalizers, of %s',
  (_, { builtIn = false, outcome = 'updated', before = [] }: Wanted, next, wanted) => {
    const metadata = { name: 'a', finalizers: ['plain'], ...next }
    const written = {
      stored: { object: { metadata } },
      before: { object: { metadata: { finalizers: before } } },
      outcome,
    }
    const warnings = warnOfFinalizers({ builtIn } as never, written as never)
    expect(warnings).toHaveLength(wanted.length)
    for (const [i, words] of wanted.entries()) expect(warnings[i]).toContain(`prefer a domain-qualified ${words} avoid`)
  },
)

interface Wanted {
  readonly builtIn?: boolean
  readonly outcome?: string
  readonly before?: readonly string[]
}
