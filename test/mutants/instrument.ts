import { nodesOf, sourceFile } from '../architecture/source.ts'
import type { Mutant } from './find-mutants.ts'

/** A mutant and the number by which it is switched on. */
export interface Numbered {
  readonly id: number
  readonly mutant: Mutant
}

/**
 * The text of a module with all of its mutants in it, each behind a switch: `$m(7)` says whether the seventh is on. One
 * process can so try many, and notes which ones a test comes by.
 */
export function instrument(path: string, text: string, mutants: readonly Numbered[]): string {
  if (mutants.length === 0) return text
  const marks: Mark[] = [...statementMarks(path, text)]
  const sites = new Map(mutants.map(({ mutant: { site } }) => [`${site.start}-${site.end}`, site]))
  for (const site of sites.values()) {
    const here = mutants.filter(({ mutant }) => mutant.site.start === site.start && mutant.site.end === site.end)
    const choices = here.map(({ id, mutant }) => `$m(${id})?${mutant.variant}:`)
    const [open, close] = site.isKey ? ['[(', ')]'] : ['(', ')']
    marks.push({ ...site, before: `${open}${choices.join('')}`, after: close })
  }
  return switchText + insert(text, marks)
}

/** Threads and programs that a test starts are told by their environment. */
const switchText =
  'const $m = ((globalThis as any).$m ??= ((on: number) => (id: number) => id === on)(Number(process.env.SETPOINT_MUTANT ?? -1))); '

/** What goes in front of a piece of the text, and behind it. */
interface Mark {
  readonly start: number
  readonly end: number
  readonly before: string
  readonly after: string
}

/** A line that begins with a parenthesis would go on with the line before it. */
function* statementMarks(path: string, text: string): Generator<Mark> {
  for (const node of nodesOf(sourceFile(path, text).program)) {
    if (node.type !== 'ExpressionStatement' || typeof node['directive'] === 'string') continue
    const { start, end } = node['expression'] as Mark
    yield { start, end, before: 'void (', after: ')' }
  }
}

/** Of two pieces that begin at one place the longer one opens first. */
function insert(text: string, marks: readonly Mark[]): string {
  const opening = marks.toSorted((a, b) => a.start - b.start || b.end - a.end)
  const open: Mark[] = []
  let result = ''
  let at = 0
  const closeUntil = (end: number): void => {
    for (let last = open.at(-1); last !== undefined && last.end <= end; last = open.at(-1)) {
      result += text.slice(at, last.end) + last.after
      at = last.end
      open.pop()
    }
  }
  for (const mark of opening) {
    closeUntil(mark.start)
    result += text.slice(at, mark.start) + mark.before
    at = mark.start
    open.push(mark)
  }
  closeUntil(Infinity)
  return result + text.slice(at)
}
