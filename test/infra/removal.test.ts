import { Template } from 'aws-cdk-lib/assertions'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { askCloudFormation, lampController, shelfController, type Question } from './lambda/cloudformation.ts'
import { plainClient } from './lambda/runtime-clients.ts'
import { applyFirstShelf, shelf } from './lambda/script.ts'
import { openStage, type Stage } from './lambda/stage.ts'
import { longOnly } from '../support/strength.ts'
import { deployed, resourcesOf } from './synthesized.ts'

const both = [shelfController, lampController]
const shelves = '/apis/example.dev/v1/namespaces/default/shelves'

describe('a Controller that is taken away', longOnly, () => {
  let stage: Stage
  beforeAll(async () => {
    stage = await openStage(plainClient)
    await applyFirstShelf(stage)
  })
  afterAll(async () => stage?.[Symbol.asyncDispose]())
  const ask = (question: Question) => askCloudFormation(stage.functions.removal, question)

  it('is refused while an object carries its finalizer, with what to do', async () => {
    const { Status, Reason, PhysicalResourceId } = await ask({ type: 'Update', before: both, after: [lampController] })
    expect(Status).toBe('FAILED')
    expect(Reason).toBe(
      'The reconciler shelf is needed: its finalizer example.dev/shelf is on default/first, and nobody else would clean up after ' +
        'those. Delete them first (kubectl delete shelf.example.dev -A --all), or remove the finalizer where there is nothing to clean up.',
    )
    expect(PhysicalResourceId).toBe('Controllers')
  })

  it('is refused when the whole stack goes', async () => {
    expect(await ask({ type: 'Delete', after: both })).toMatchObject({ Status: 'FAILED' })
  })

  it('is refused when it comes back with another finalizer, which does not know the old one', async () => {
    const renamed = { ...shelfController, finalizer: 'example.dev/other' }
    expect(await ask({ type: 'Update', before: both, after: [renamed, lampController] })).toMatchObject({
      Status: 'FAILED',
    })
  })

  it.each([
    ['nothing was there before', { type: 'Create', after: both }],
    ['it stays', { type: 'Update', before: both, after: both }],
    ['another comes', { type: 'Update', before: [shelfController], after: both }],
    ['it has nothing to clean up', { type: 'Update', before: both, after: [shelfController] }],
  ] as const)('is none of our affair when %s', async (_, question) => {
    expect(await ask(question)).toMatchObject({ Status: 'SUCCESS' })
  })

  it('names a few of many, wherever they are', async () => {
    for (const name of ['b', 'c', 'd', 'e']) await stage.request('POST', shelves, shelf(name, { books: 1 }))
    await stage.settle()
    const { Reason } = await ask({ type: 'Delete', after: both })
    expect(Reason).toContain('and others')
    for (const name of ['b', 'c', 'd', 'e']) await stage.request('DELETE', `${shelves}/${name}`)
    await stage.settle()
  })

  it('may go when they are gone', async () => {
    await stage.request('DELETE', `${shelves}/first`)
    await stage.settle()
    expect(await ask({ type: 'Delete', after: both })).toMatchObject({ Status: 'SUCCESS' })
  })
})

it('is asked about after everything else has changed, and before anything goes', () => {
  const { stack, controllers } = deployed({ ticksAtOnce: 8 })
  const template = Template.fromStack(stack)
  const [resource] = Object.values(resourcesOf(template, 'Custom::SetpointControllers'))
  const { DependsOn: after } = resource as unknown as { readonly DependsOn: readonly string[] }
  // The rules, too: what is deleted after a refusal has timers that a tick must find.
  const needed = ['DynamoDB::Table', 'SQS::Queue', 'Lambda::EventSourceMapping', 'Lambda::Function', 'Events::Rule']
  for (const type of needed)
    expect(Object.keys(resourcesOf(template, `AWS::${type}`)).filter((id) => !after.includes(id))).toEqual([])
  expect(resource?.Properties['controllers']).toEqual([shelfController, lampController])
  expect(controllers.shelf.reconciler.finalizer).toBe(shelfController.finalizer)
})
