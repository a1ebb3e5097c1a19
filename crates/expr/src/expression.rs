//! Expressions: from a source to a result.

use std::{error::Error, fmt, ops::Range};

use wheelwright_document::Value;

use crate::{
    CostEstimate, Failure, Function, Type,
    check::{Checked, Mistake, Variable, check, describe},
    code::Code,
    estimate::estimate,
    evaluate::Evaluator,
    library::Overload,
    parse::{parse, quoted_names},
    shape::{ShapeId, Shapes},
    value::Val,
};

/// An expression that has been read, typed and made ready to run. Compile once, evaluate from any number of threads.
#[derive(Debug)]
pub struct Expression {
    code: Code,
    uses: Vec<bool>,
    foreign: Vec<(&'static str, Range<u32>)>,
    called: Vec<&'static Overload>,
}

/// Why an expression cannot be compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompileError {
    mistakes: Vec<Mistake>,
}

impl Expression {
    /// Compiles an expression over documents of some shapes; its value must have a type.
    ///
    /// # Errors
    /// The source is no expression, or cannot be typed, or gives something of another type.
    pub fn compile(source: &str, shapes: &Shapes, variables: &[Variable], result: &Type) -> Result<Self, CompileError> {
        let (expression, r#type, at) = Self::typed(source, shapes, variables)?;
        if r#type != *result {
            let message = format!("the expression must give {}, not {}", describe(result), describe(&r#type));
            return Err(CompileError { mistakes: vec![Mistake { at, message, remedy: None }] });
        }
        Ok(expression)
    }

    /// Compiles an expression whose value may have any type, and says which.
    ///
    /// # Errors
    /// The source is no expression, or cannot be typed.
    pub fn compile_any(source: &str, shapes: &Shapes, variables: &[Variable]) -> Result<(Self, Type), CompileError> {
        Self::typed(source, shapes, variables).map(|(expression, r#type, _)| (expression, r#type))
    }

    fn typed(source: &str, shapes: &Shapes, variables: &[Variable]) -> Result<(Self, Type, Range<u32>), CompileError> {
        let expr = parse(source).map_err(|error| CompileError {
            mistakes: vec![Mistake { at: error.at(), message: error.message().to_owned(), remedy: None }],
        })?;
        let Checked { code, r#type, uses, mut foreign, called } =
            check(&expr, shapes, variables).map_err(|mistakes| CompileError { mistakes })?;
        foreign.extend(quoted_names(source).map(|at| ("`", at)));
        Ok((Self { code, uses, foreign, called }, r#type, expr.at))
    }

    /// Whether the expression mentions a variable, by its position in the list it was compiled with.
    pub fn uses(&self, variable: usize) -> bool {
        self.uses.get(variable).copied().unwrap_or(false)
    }

    /// The functions and macros that Kubernetes does not have in the rules of a schema, with their places; names in
    /// backticks, which it does not have either, are called "`".
    pub fn foreign_functions(&self) -> &[(&'static str, Range<u32>)] {
        &self.foreign
    }

    /// The functions and operators that the expression calls, where the types of their arguments tell which; macros
    /// are not among them.
    pub fn functions(&self) -> impl Iterator<Item = Function> {
        self.called.iter().map(|overload| Function::of(overload))
    }

    /// What the expression can cost for documents of the shapes and with the variables it was compiled with.
    pub fn estimate(&self, shapes: &Shapes, variables: &[Variable]) -> CostEstimate {
        estimate(&self.code, shapes, variables)
    }

    /// Evaluates the expression with values for the variables it was compiled with.
    ///
    /// # Errors
    /// The expression has no value, or costs more than the evaluator's budget.
    #[inline]
    pub fn evaluate<'a>(&'a self, evaluator: &mut Evaluator<'a>, variables: &[Val<'a>]) -> Result<Val<'a>, Failure> {
        evaluator.run(&self.code, variables)
    }

    /// The same with values that need not be in a document, and their shapes. Of the last variables, those may be left out that
    /// the expression does not use.
    ///
    /// # Errors
    /// As for [`evaluate`](Self::evaluate).
    #[inline]
    pub fn evaluate_over<'a, const N: usize>(
        &'a self,
        evaluator: &mut Evaluator<'a>,
        variables: [(Value<'a>, ShapeId); N],
    ) -> Result<Val<'a>, Failure> {
        debug_assert!(N <= self.uses.len() && !self.uses[N..].contains(&true), "what is used is there");
        evaluator.run_over(&self.code, variables, self.uses.len())
    }
}

impl CompileError {
    /// What is wrong, in the order of the source.
    pub fn mistakes(&self) -> &[Mistake] {
        &self.mistakes
    }
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, mistake) in self.mistakes.iter().enumerate() {
            f.write_str(if at == 0 { "" } else { "; " })?;
            f.write_str(&mistake.message)?;
        }
        Ok(())
    }
}

impl Error for CompileError {}
