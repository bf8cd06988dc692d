import { expect, it } from 'vitest'
import { deployed, resourcesOf } from './synthesized.ts'

/**
 * What a new logical id would replace with its contents lost: the table with all objects, queues with wake-ups, the bus
 * that others have rules on. CloudFormation knows a resource by this id only, so an id never changes, whatever is
 * renamed or moved in the code.
 */
it('never changes the logical ids of what holds something', () => {
  const template = deployed().template()
  const types = ['AWS::DynamoDB::Table', 'AWS::SQS::Queue', 'AWS::Events::EventBus', 'AWS::SNS::Topic']
  expect(Object.fromEntries(types.map((type) => [type, Object.keys(resourcesOf(template, type)).sort()]))).toEqual({
    'AWS::DynamoDB::Table': [
      'ControlPlaneTable1210433C',
      'ControlPlaneTokenKeysShown92A77BEC',
      'ControlPlaneTokenKeysSigning7D09729E',
    ],
    'AWS::SQS::Queue': [
      'ControlPlaneRelayFailures52170FF7',
      'ControlPlaneSystemDeadLettersBB651B45',
      'ControlPlaneSystemQueue8165B693',
      'LampsWorkQueue3A642800',
      'ShelvesWorkQueue194713B2',
    ],
    'AWS::Events::EventBus': ['ControlPlaneBusAEDB6F1D'],
    'AWS::SNS::Topic': ['ControlPlaneAlarms4B93DFA1'],
  })
})
