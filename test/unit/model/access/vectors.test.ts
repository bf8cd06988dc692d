import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createAccessBook, type AccessBook, type Asker } from '../../../../shared/model/access/access-book.ts'
import { authorize, rulesFor } from '../../../../shared/model/access/authorize.ts'
import { authorizeAgain } from '../../../../shared/model/access/remembered-decisions.ts'
import { findUncovered } from '../../../../shared/model/access/rule-allows.ts'
import { rulesOf, type Attributes } from '../../../../shared/model/access/rules.ts'
import type { JsonObject } from '../../../../shared/model/json.ts'
import type { ApiObject } from '../../../../shared/model/object.ts'

/** What Kubernetes' own authorizer answered: `test/vectors/README.md` says how it was asked. */
const folder = new URL('../../../vectors/', import.meta.url)

interface Policy {
  readonly roles: readonly JsonObject[]
  readonly clusterRoles: readonly JsonObject[]
  readonly roleBindings: readonly JsonObject[]
  readonly clusterRoleBindings: readonly JsonObject[]
}

interface Question {
  readonly subject: number
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
  readonly path?: string
}

interface RandomCase {
  readonly policy: Policy
  readonly subjects: readonly Asker[]
  readonly questions: readonly Question[]
  readonly answers: string
  readonly grants: readonly {
    readonly subject: number
    readonly namespace: string
    readonly rules: JsonObject[]
    readonly covered: boolean
  }[]
}

interface Matrix {
  readonly policy: Policy
  readonly axes: {
    readonly subjects: readonly Asker[]
    readonly verbs: readonly string[]
    readonly resources: readonly (readonly [string, string, string])[]
    readonly scopes: readonly (readonly [string, string])[]
    readonly paths: readonly string[]
  }
}

const lines = gunzipSync(readFileSync(new URL('rbac-vectors.jsonl.gz', folder)))
  .toString()
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as { matrix: number; answers: string } | RandomCase)
const written = JSON.parse(readFileSync(new URL('rbac-oracle/policy.json', folder), 'utf8')) as Matrix

describe('the authorizer answers as Kubernetes does', () => {
  it('to each verb on each resource in each scope, by each subject', () => {
    const book = bookOf(written.policy)
    const { subjects, verbs, resources, scopes, paths } = written.axes
    const questions = verbs.flatMap((verb): readonly Attributes[] => [
      ...resources.flatMap(([group, resource, subresource]) =>
        scopes.map(([namespace, name]) => ({ verb, group, resource, subresource, namespace, name })),
      ),
      ...paths.map((path) => ({ verb, path })),
    ])
    const recorded = lines.filter((line) => 'matrix' in line)
    expect(recorded).toHaveLength(subjects.length)
    for (const { matrix, answers } of recorded) {
      const asker = { ...(subjects[matrix] as Asker) }
      expect(answers).toHaveLength(questions.length)
      const wrong = questions.filter((question, i) => isAllowed(asker, question, book) !== (answers[i] === '1'))
      expect({ asker, wrong }).toEqual({ asker, wrong: [] })
    }
  })

  const cases = lines.filter((line) => 'policy' in line)

  it('to questions about random policies', () => {
    expect(cases.length).toBeGreaterThan(100)
    for (const { policy, subjects, questions, answers } of cases) {
      const book = bookOf(policy)
      const wrong = questions.filter(
        (question, i) =>
          isAllowed(subjects[question.subject] as Asker, attributesOf(question), book) !== (answers[i] === '1'),
      )
      expect({ policy, wrong }).toEqual({ policy, wrong: [] })
    }
  })

  it('to what may be granted', () => {
    for (const { policy, subjects, grants } of cases) {
      const book = bookOf(policy)
      const isWrong = ({ subject, namespace, rules, covered }: (typeof grants)[number]): boolean => {
        const held = rulesFor(subjects[subject] as Asker, namespace, book).rules
        return (findUncovered(held, rulesOf({ rules })).length === 0) !== covered
      }
      expect({ policy, wrong: grants.filter(isWrong) }).toEqual({ policy, wrong: [] })
    }
  })
})

/** From memory, too: what was asked before, about another name, changes nothing. */
function isAllowed(asker: Asker, wanted: Attributes, book: AccessBook): boolean {
  const { allowed } = authorize(asker, wanted, book)
  expect(authorizeAgain(asker, wanted, book).allowed).toBe(allowed)
  return allowed
}

function attributesOf({ verb, group, resource, subresource, namespace, name, path }: Question): Attributes {
  return path === undefined ? { verb, group, resource, subresource, namespace, name } : { verb, path }
}

function bookOf({ roles, clusterRoles, roleBindings, clusterRoleBindings }: Policy): AccessBook {
  const book = createAccessBook()
  const note = (kind: string, objects: readonly JsonObject[]): void => {
    for (const object of objects) book.note({ ...object, kind } as ApiObject)
  }
  note('Role', roles)
  note('ClusterRole', clusterRoles)
  note('RoleBinding', roleBindings)
  note('ClusterRoleBinding', clusterRoleBindings)
  return book
}
