/** A failure that is told to the person in its own words, without a stack trace. */
export class ExpectedFailure extends Error {
  override name = 'ExpectedFailure';

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}
