/**
 * House rules that the linter has no word for. Each finds what breaks it; `tidy.test.ts` holds them against the tree.
 */
import { type Comment, isFunction, linesOf, nodesOf, type SourceFile, type SyntaxNode } from './source.ts'

export interface TidyRule {
  /** A fact about the tree. */
  readonly name: string
  /** A file that breaks it. */
  readonly broken: { readonly path: string; readonly text: string }
  /** What breaks it; the whole program if that is the file as such. */
  readonly find: (file: SourceFile) => readonly Pick<SyntaxNode, 'start'>[]
}

export const tidyRules = {
  nowhereFolders: {
    name: 'has no folder for what belongs nowhere: a function lives with its noun',
    broken: { path: 'shared/engine/utils/sum.ts', text: '' },
    find: (file) => (foldersOf(file).some((folder) => isNowhere(folder, file)) ? [file.program] : []),
  },
  folderNames: {
    name: 'names folders in kebab-case',
    broken: { path: 'shared/workQueue/take.ts', text: '' },
    find: (file) => (foldersOf(file).every((folder) => /^[a-z\d]+(-[a-z\d]+)*$/.test(folder)) ? [] : [file.program]),
  },
  barrels: {
    name: 'has no barrels but the front doors of the package',
    broken: { path: 'shared/engine/engine.ts', text: "export { a } from './a.ts'\nexport * from './b.ts'" },
    find: (file) => (!frontDoors.has(file.path) && isBarrel(file) ? [file.program] : []),
  },
  ignores: {
    name: 'argues every ignore where it stands',
    broken: { path: 'shared/model/a.ts', text: '// oxlint-disable-next-line no-empty\nexport const a = 1' },
    find: ({ comments }) => comments.filter(isBareIgnore),
  },
  commentWidths: {
    name: 'ends every line of a comment before column 120',
    broken: { path: 'shared/model/a.ts', text: `/** ${'word '.repeat(24)}*/\nexport const a = 1` },
    find: (file) => file.comments.filter((comment) => isTooWide(comment, file)),
  },
  skips: {
    name: 'gives every skipped test its reason',
    broken: { path: 'test/unit/a.test.ts', text: "it.skipIf(true)('works', () => {})" },
    find: (file) => callsOf(file).filter((call) => isBareSkip(call, file)),
  },
  functionLengths: {
    name: 'has no function that is too long to see at once, the functions inside it counted',
    broken: { path: 'shared/model/a.ts', text: `export function a() {${'\n'.repeat(71)}}` },
    find: (file) => (isTest(file) ? [] : functionsOf(file).filter((one) => isTooLong(one, file))),
  },
  portSizes: {
    name: 'keeps ports small enough to have many adapters',
    broken: {
      path: 'shared/ports/a.ts',
      text: `export interface A { ${'abcdefghi'.replaceAll(/./g, '$&(): void;')} }`,
    },
    find: (file) => (isPort(file) ? interfacesOf(file).filter((one) => methodCount(one) > 8) : []),
  },
} as const satisfies Readonly<Record<string, TidyRule>>

/**
 * The names that more than one file exports, each with its files. `infra` is a house of its own: it imports nothing of
 * the others. Lambda asks each function for a `handler`.
 */
export function sharedNames(files: readonly SourceFile[]): readonly string[] {
  const owners = new Map<string, Set<string>>()
  for (const file of files.filter(({ path }) => /^(shared|functions|infra)\//.test(path)))
    for (const name of exportedNames(file)) {
      const known = owners.get(`${houseOf(file)} ${name}`) ?? new Set()
      owners.set(`${houseOf(file)} ${name}`, known.add(file.path))
    }
  return [...owners]
    .filter(([name, paths]) => paths.size > 1 && !name.endsWith(' handler'))
    .map(([name, paths]) => `${name}: ${[...paths].join(', ')}`)
}

function houseOf({ path }: SourceFile): string {
  return path.startsWith('infra/') ? 'infra' : 'shared'
}

function exportedNames({ program }: SourceFile): readonly string[] {
  const statements = program['body'] as readonly SyntaxNode[]
  const declarations = statements
    .filter(({ type }) => type === 'ExportNamedDeclaration')
    .map((one) => one['declaration'])
  return declarations.filter((one): one is SyntaxNode => one !== null).flatMap(declaredNames)
}

function declaredNames(declaration: SyntaxNode): readonly string[] {
  const { id, declarations = [] } = declaration as unknown as {
    readonly id?: { readonly name: string }
    readonly declarations?: readonly { readonly id: { readonly name: string } }[]
  }
  return id === undefined ? declarations.map((one) => one.id.name) : [id.name]
}

const frontDoors = new Set(['shared/index.ts', 'infra/cdk.ts'])

function isTest({ path }: SourceFile): boolean {
  return path.startsWith('test/')
}

function isPort({ path }: SourceFile): boolean {
  return path.startsWith('shared/ports/')
}

function foldersOf({ path }: SourceFile): readonly string[] {
  return path.split('/').slice(0, -1)
}

/** `test/types` holds tests of types. */
function isNowhere(folder: string, { path }: SourceFile): boolean {
  return /^(utils?|helpers?|common|misc|types|lib)$/.test(folder) && !path.startsWith('test/types/')
}

function isBarrel({ path, program }: SourceFile): boolean {
  const statements = program['body'] as readonly SyntaxNode[]
  const onlyExports = statements.length > 0 && statements.every((one) => one.type.startsWith('Export') && one['source'])
  return onlyExports || /(^|\/)index\.tsx?$/.test(path)
}

/** Says why after two dashes, and the linter's names its rules before them. */
function isBareIgnore({ value }: Comment): boolean {
  const ignore = value.trimStart()
  if (/^(oxlint|eslint)-disable/.test(ignore)) return !/^\S+\s+[^\s-].* -- \w/.test(ignore)
  return /^(oxfmt|prettier|v8|istanbul)[- ]ignore/.test(ignore) && !/ -- \w/.test(ignore)
}

/** A directive of a tool is one line, however long its reason. */
function isTooWide({ value, start }: Comment, { text }: SourceFile): boolean {
  if (/^\s*(oxlint|eslint|oxfmt|prettier)-/.test(value)) return false
  const from = text.lastIndexOf('\n', start) + 1
  const end = text.indexOf('\n', start + value.length)
  const lines = text.slice(from, end < 0 ? undefined : end).split('\n')
  return lines.some((line) => line.length > 120 && /^\s*(\/\*|\*|\/\/)/.test(line))
}

function callsOf(file: SourceFile): readonly SyntaxNode[] {
  return [...nodesOf(file.program)].filter(({ type }) => type === 'CallExpression')
}

const skippingCall = /^(it|test|describe)\.(.*\.)?(skip|todo|(skipIf|runIf)\(.*\))$/s

/** The reason stands in the options, `{ meta: { skipped: 'no Docker here' } }`, or is said to `context.skip()`. */
function isBareSkip(call: SyntaxNode, { text }: SourceFile): boolean {
  const textOf = ({ start, end }: SyntaxNode) => text.slice(start, end)
  const callee = textOf(call['callee'] as SyntaxNode)
  const given = (call['arguments'] as readonly SyntaxNode[]).filter(({ type }) => !/Function/.test(type)).map(textOf)
  if (/^(context|ctx)\.skip$/.test(callee)) return !given.some((argument) => /['"`]/.test(argument))
  return skippingCall.test(callee) && !/\bskipped:/.test(given.join())
}

function functionsOf(file: SourceFile): readonly SyntaxNode[] {
  return [...nodesOf(file.program)].filter(isFunction)
}

function isTooLong(one: SyntaxNode, file: SourceFile): boolean {
  return linesOf(file, one) > 70
}

function interfacesOf(file: SourceFile): readonly SyntaxNode[] {
  return [...nodesOf(file.program)].filter(({ type }) => type === 'TSInterfaceBody')
}

function methodCount(body: SyntaxNode): number {
  return (body['body'] as readonly SyntaxNode[]).filter(isMethod).length
}

function isMethod(member: SyntaxNode): boolean {
  const annotation = member['typeAnnotation'] as { readonly typeAnnotation: SyntaxNode } | null | undefined
  return member.type === 'TSMethodSignature' || annotation?.typeAnnotation.type === 'TSFunctionType'
}
