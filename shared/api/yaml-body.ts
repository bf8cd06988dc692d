import { isAlias, isCollection, isScalar, LineCounter, parseDocument, visit, type Document, type Scalar } from 'yaml'
import { OperatingError } from '../model/errors.ts'
import { exactNumber } from './exact-numbers.ts'
import { requireFewMerged } from './yaml-merges.ts'
import { YamlFault, yamlFaultText } from './yaml-faults.ts'
import { scalarTags } from './yaml-scalars.ts'

/**
 * The parser is a hundred times slower than JSON's, so it gets less; and its own checks of keys and its list of all
 * that is wrong take the square of the time. Clients that write large objects send JSON.
 */
const lengthMax = 20 * 1024
/** Twice as long a text takes as long if it has half as many of these. One that a person writes has a few hundred. */
const marksMax = 6_000
const marks = /[\n,:?[\]{}]/g
const aliasesMax = 100
/** More lists, keys and values than a body may have levels, begun on one line: `- - - …`. */
const levelsOnALine = /(?:[-?:][ \t]+){201}/

/** Dates, sets and bytes stay what is written: JSON has no such values. */
const options = {
  schema: 'failsafe',
  customTags: scalarTags,
  merge: true,
  resolveKnownTags: false,
  logLevel: 'error',
  uniqueKeys: false,
  prettyErrors: false,
} as const

export interface ReadYaml {
  readonly value: unknown
  /** Keys that a map has twice. The last one counts. */
  readonly faults: readonly string[]
}

/**
 * The value of one YAML document. Throws TOO_LARGE, and a YamlFault that says what is wrong first, and where, in words
 * of its own: the parser's repeat the text, which may be a Secret's.
 */
export function readYaml(text: string): ReadYaml {
  if (text.length > lengthMax)
    throw new OperatingError(
      'TOO_LARGE',
      `YAML of more than ${lengthMax} characters is not taken: send it as JSON, which may have 1 MiB`,
    )
  if ((text.match(marks)?.length ?? 0) > marksMax)
    throw new OperatingError(
      'TOO_LARGE',
      `YAML with more than ${marksMax} line ends, commas, colons, question marks and brackets is not taken: send it as JSON`,
    )
  // Each of them is a level, and the parser comes to its own end of them late.
  if (levelsOnALine.test(text)) throw new YamlFault('there are more than 200 levels on one line')
  const lineCounter = new LineCounter()
  const document = withoutStacks(() => parseDocument(text, { ...options, lineCounter }))
  const repeated: Scalar[] = []
  const [refused] = document.errors
  const fault =
    refused === undefined ? faultOf(document, repeated) : { pos: refused.pos, message: yamlFaultText(refused.code) }
  const lineOf = ({ range }: Scalar): number => lineCounter.linePos(range?.[0] ?? 0).line
  if (fault === undefined)
    return {
      value: valueOf(document),
      faults: repeated.map((key) => `yaml: line ${lineOf(key)}: key "${String(key.value)}" already set in map`),
    }
  const { line, col } = lineCounter.linePos(fault.pos[0])
  throw new YamlFault(`${fault.message} at line ${line}, column ${col}`)
}

/** An alias of what has aliases counts as often as these. The library counts what an alias stands for as one, too. */
function valueOf(document: Document.Parsed): unknown {
  requireFewMerged(document)
  try {
    return document.toJS({ reviver: exactNumber, maxAliasCount: aliasesMax + 1 })
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error
    const isExcessive = error.message.startsWith('Excessive alias count')
    throw new YamlFault(
      isExcessive
        ? `aliases of aliases stand for more than ${aliasesMax} values`
        : 'an alias stands for nothing above it',
      { cause: error },
    )
  }
}

/**
 * The parser makes an Error of each fault it finds, ten thousand in a hostile text; most of what that costs are their
 * stacks.
 */
function withoutStacks<Value>(work: () => Value): Value {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 0
  try {
    return work()
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

interface Fault {
  readonly message: string
  readonly pos: readonly [number, ...unknown[]]
}

/** What is wrong first. Keys that a map has twice are noted: Kubernetes takes the last. */
function faultOf(document: Document.Parsed, repeated: Scalar[]): Fault | undefined {
  let fault: Fault | undefined
  let aliases = 0
  const noteFault = (message: string, at = 0): symbol => {
    fault = { message, pos: [at] }
    return visit.BREAK
  }
  visit(document, {
    Alias: (_, { range }) =>
      ++aliases > aliasesMax ? noteFault(`There are more than ${aliasesMax} aliases`, range?.[0]) : undefined,
    Pair: (_, { key }) => {
      const node = isAlias(key) ? key.resolve(document) : key
      // As a JSON name it would be its own text, and so would each key inside it: that takes minutes for a few levels.
      return isCollection(node) ? noteFault('A map key must be a plain value', node.range?.[0]) : undefined
    },
    Map: (_, { items }) => {
      noteRepeated(items.map(({ key }) => key).filter(isScalar), repeated)
    },
  })
  return fault
}

function noteRepeated(keys: readonly Scalar[], repeated: Scalar[]): void {
  const seen = new Set<unknown>()
  for (const key of keys) {
    if (seen.has(key.value) && repeated.length < repeatedMax) repeated.push(key)
    seen.add(key.value)
  }
}

/** As many as a reply has room for. */
const repeatedMax = 100
