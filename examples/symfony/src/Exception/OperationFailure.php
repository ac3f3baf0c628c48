<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Exception;

/**
 * What a failure says. Two questions are kept apart: do we know that there is no
 * effect (the state that follows), and does another attempt make sense (the class).
 *
 * An exception that does not implement this is recorded as awaiting_confirmation
 * with the class ambiguous, and is never proposed to be sent again.
 */
interface OperationFailure extends \Throwable
{
    /** @return string transient, permanent, ambiguous or critical */
    public function errorClass(): string;

    /** @return string code for people and for `errors:` of the job file, such as timeout */
    public function errorCode(): string;

    /** @return string state that the operation has now: awaiting_confirmation wherever the effect may exist */
    public function nextState(): string;
}
