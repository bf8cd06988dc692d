import { describe, expect, it } from 'vitest'
import { adaptations, type Template } from './adaptations.ts'

const worker = (Timeout: number) => ({ Type: 'AWS::Lambda::Function', Properties: { Timeout } })
const queue = (VisibilityTimeout?: number) => ({ Type: 'AWS::SQS::Queue', Properties: { VisibilityTimeout } })

function adapt(name: string, Resources: Template['Resources']): Template['Resources'] {
  const one = adaptations.find((adaptation) => adaptation.name === name)
  return one?.adapt({ Resources }).Resources ?? {}
}

describe('shorterHiding', () => {
  const functions = { Shared: worker(75), Job: worker(900) }

  it.each([
    ['of the shared function', 450, 80],
    ['of dead letters', 180, 80],
    ['that hides for less already', 30, 30],
    ['of a function that takes longer itself', 5_400, 5_400],
    ['that says nothing', undefined, undefined],
  ])('a queue %s: %s s become %s', (_, hidden, becomes) => {
    const { Queue } = adapt('shorterHiding', { ...functions, Queue: queue(hidden) })
    expect(Queue).toEqual(queue(becomes))
  })

  it('leaves functions as they are', () => {
    expect(adapt('shorterHiding', functions)).toEqual(functions)
  })
})
