import { awsEngine } from '../../shared/testing-aws/aws-engine.ts'
import { useTestEngine } from '../../shared/testing/test-engine.ts'

/** Has the test environments of a file run on the engine of AWS. */
useTestEngine(awsEngine)
