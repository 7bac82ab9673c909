/** A failure whose message is printed for the user without a stack trace. */
export class ExpectedFailure extends Error {
  override name = 'ExpectedFailure';

  constructor(
    message: string,
    readonly exitCode = 1,
  ) {
    super(message);
  }
}
