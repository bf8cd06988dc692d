import type { Names } from './names.ts'

const frontDoor = '../../../shared/index.ts'

/** The files of a new reconciler, by path from the root: the smallest one that does something. */
export function filesOf(names: Names): Readonly<Record<string, string>> {
  const { file } = names
  return {
    [`functions/reconcilers/${file}/kind.ts`]: kindFile(names, frontDoor),
    [`functions/reconcilers/${file}/reconciler.ts`]: reconcilerFile(names, frontDoor),
    [`functions/reconcilers/${file}/README.md`]: readmeFile(names),
    [`test/reconcilers/${file}/${file}.test.ts`]: testFile(names),
    [`test/reconcilers/${file}/README.md`]: testReadmeFile(names),
    [`examples/${file}.yaml`]: exampleFile(names, `examples/${file}.yaml`),
  }
}

/** The module of a kind, which imports the framework by this specifier. */
export function kindFile({ group, version, kind, plural }: Names, framework: string): string {
  return `import * as z from 'zod'
import { defineKind } from '${framework}'

export const ${kind} = defineKind({
  group: '${group}',
  version: '${version}',
  kind: '${kind}',
  plural: '${plural}',
  description: 'What a ${kind} is, in a sentence: kubectl explain shows it.',
  spec: z.object({
    message: z.string().min(1).describe('What is wanted. Every field has a line for kubectl explain.'),
  }),
  status: z.object({
    configMap: z.string().describe('What was found or made.'),
  }),
  columns: [{ name: 'Message', type: 'string', jsonPath: '.spec.message' }],
})
`
}

/** The module of its reconciler. */
export function reconcilerFile({ kind, file, variable }: Names, framework: string): string {
  return `import { ConfigMap, defineReconciler, done, type Controller } from '${framework}'
import { ${kind} } from './kind.ts'

/** Makes the world match one ${kind}. It may run at any time and often, so each step says how it is to be. */
export const ${variable}Reconciler: Controller = defineReconciler(${kind}, {
  owns: [ConfigMap],
  // It may read and write its own kind and what it owns. What it needs beyond that is declared here.
  grants: [],

  async reconcile({ metadata, spec }, ctx) {
    const configMap = \`\${metadata.name}-${file}\`
    await ctx.apply(ConfigMap, { metadata: { name: configMap }, data: { message: spec.message } })
    return done({ status: { configMap } })
  },
})
`
}

function readmeFile({ kind, group, file }: Names): string {
  return `# ${kind}

What a ${kind} of \`${group}\` is, in a sentence.

- The kind is in [kind.ts](kind.ts), the reconciler in [reconciler.ts](reconciler.ts).
- [examples/${file}.yaml](../../../examples/${file}.yaml) is one that can be applied.
`
}

function testReadmeFile({ kind, file }: Names): string {
  return `# Tests of ${kind}

The reconciler of [functions/reconcilers/${file}](../../../functions/reconcilers/${file}/README.md) on a virtual clock.
`
}

function testFile({ kind, file, variable }: Names): string {
  return `import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { ${kind} } from '../../../functions/reconcilers/${file}/kind.ts'
import { ${variable}Reconciler } from '../../../functions/reconcilers/${file}/reconciler.ts'
import { ConfigMap, type JsonObject } from '../../../shared/index.ts'
import { createTestEnv } from '../../../shared/testing/test-env.ts'

const example = parse(readFileSync(join(import.meta.dirname, '../../../examples/${file}.yaml'), 'utf8')) as JsonObject

it('makes the example ready, and puts its ConfigMap back when somebody edits it', async () => {
  await using env = await createTestEnv({ reconcilers: [${variable}Reconciler] })
  const { name } = (await env.applyManifest(example)).metadata
  await env.settle()
  expect(await env.get(${kind}, name)).toMatchObject({
    status: { configMap: \`\${name}-${file}\`, conditions: [{ type: 'Ready', status: 'True' }] },
  })

  await env.patch(ConfigMap, \`\${name}-${file}\`, { data: { message: 'edited by hand' } })
  await env.settle()
  expect(await env.get(ConfigMap, \`\${name}-${file}\`)).toMatchObject({ data: { message: 'hello' } })
})

it('takes its ConfigMap along when it is deleted', async () => {
  await using env = await createTestEnv({ reconcilers: [${variable}Reconciler] })
  const { name } = (await env.applyManifest(example)).metadata
  await env.settle()
  await env.delete(${kind}, name)
  await env.settle()
  expect(await env.get(ConfigMap, \`\${name}-${file}\`)).toBeUndefined()
})
`
}

/** A manifest that stands at this path. */
export function exampleFile({ group, version, kind, plural, file }: Names, path: string): string {
  return `# One ${kind}. After
#
#   kubectl apply -f ${path}
#   kubectl wait --for=condition=Ready ${plural}.${group}/example
#
# the ConfigMap example-${file} holds its message.
apiVersion: ${group}/${version}
kind: ${kind}
metadata:
  name: example
spec:
  message: hello
`
}

/** The list with the new reconciler in it; `undefined` if the text is no longer one that can be added to. */
export function addToList(list: string, { file, variable }: Names): string | undefined {
  const reconciler = `${variable}Reconciler`
  const match = /^(.*\nexport const ownReconcilers: readonly Controller\[\] = \[)([^\]]*?),?\s*\](.*)$/s.exec(list)
  if (match === null) return undefined
  const [, before = '', entries = '', after = ''] = match
  const lines = before.split('\n')
  const lastImport = lines.findLastIndex((line) => line.startsWith('import '))
  lines.splice(lastImport + 1, 0, `import { ${reconciler} } from './${file}/reconciler.ts'`)
  return `${lines.join('\n')}${entries.trim() === '' ? '' : `${entries}, `}${reconciler}]${after}`
}
